import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { ROOT } from './modules.ts';

/** What a person may say to `npm start`. */
export interface StartOptions {
  data: string;
  reset: boolean;
  help: boolean;
  /** Preferred instead of 8080, 8025 and 1025. */
  port?: number;
  mailPort?: number;
  smtpPort?: number;
  /** An administrator's address of a PostgreSQL to use instead of the embedded one. */
  databaseUrl?: string;
  /** Brokers to use instead of the embedded one. */
  brokers?: string;
}

export const HELP = `npm start [-- options]

Starts the whole platform on this machine: PostgreSQL, Kafka, the six apps, a
mail catcher and a demo organization.

  --data DIR       where data, secrets and logs are kept (.data); npm run demo,
                   replay and sign-in take it too
  --reset          empties that folder first
  --port N         the gateway's port (8080, or the next free one)
  --mail-port N    the mail page's port (8025, or the next free one)
  --smtp-port N    the mail catcher's SMTP port (1025, or the next free one)
  --help           prints this

PLATFORM_DATABASE_URL (of a role that may create roles and databases) and
PLATFORM_KAFKA_BROKERS use yours instead of the embedded ones. DATABASE_URL and
KAFKA_BROKERS, which another project may have set, are not read.
`;

/** @throws Error of one sentence. */
export function readOptions(args: string[], env: NodeJS.ProcessEnv = process.env): StartOptions {
  const values = parse(args);
  const options = {
    data: resolve(values.data ?? join(ROOT, '.data')),
    reset: values.reset ?? false,
    help: values.help ?? false,
    port: port('--port', values.port),
    mailPort: port('--mail-port', values['mail-port']),
    smtpPort: port('--smtp-port', values['smtp-port']),
    databaseUrl: databaseUrl(env['PLATFORM_DATABASE_URL']),
    brokers: env['PLATFORM_KAFKA_BROKERS'] || undefined,
  };
  if (options.reset && (options.databaseUrl ?? options.brokers) !== undefined)
    throw new Error(
      '--reset empties the data folder and nothing else: drop the databases and topics on your own server yourself, and start without it.',
    );
  return options;
}

function parse(args: string[]) {
  try {
    return parseArgs({
      args,
      options: {
        data: { type: 'string' },
        reset: { type: 'boolean' },
        help: { type: 'boolean' },
        port: { type: 'string' },
        'mail-port': { type: 'string' },
        'smtp-port': { type: 'string' },
      },
    }).values;
  } catch (cause) {
    throw new Error(`${(cause as Error).message}\n\n${HELP}`, { cause });
  }
}

function port(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1 || value > 65_535)
    throw new Error(`${name} takes a port, 1 to 65535.`);
  return value;
}

function databaseUrl(text: string | undefined): string | undefined {
  if (!text) return undefined;
  if (!URL.canParse(text) || !/^postgres(ql)?:$/.test(new URL(text).protocol))
    throw new Error('PLATFORM_DATABASE_URL must be a postgres:// address.');
  return text;
}
