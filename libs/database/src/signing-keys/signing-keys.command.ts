import { parseArgs } from 'node:util';
import { databaseConfig, encryptionConfig, keyringOf, readConfig } from '@customer-platform/config';
import { log } from '@customer-platform/http';
import { Clock } from '../clock.js';
import { dataSourceOf } from '../data-source.js';
import { Database } from '../database.js';
import { KeySeal } from './key-seal.js';
import { sealOfSigningKeys, SigningKeys, type ListedKey } from './signing-keys.js';

/** What the command is run with. */
export interface SigningKeysCommand {
  readonly module: string;
  /** Which of the module's keys it is about; no others are shown or touched. */
  readonly purpose: string;
  /** How long what they sign lives, in minutes. */
  readonly lifeMinutes: number;
  /** Default: what follows the script's name on the command line. */
  readonly args?: readonly string[];
  /** Default: standard output. */
  readonly write?: (text: string) => void;
}

const helpOf = ({ module, purpose, lifeMinutes }: SigningKeysCommand): string => `
The keys by which ${module} signs (${purpose}). They are replaced by themselves every 90 days.

  node apps/${module}/dist/signing-keys.js list [--json]
  node apps/${module}/dist/signing-keys.js rotate [--after SECONDS] [--json]
  node apps/${module}/dist/signing-keys.js retire KID [--json]

rotate makes another key, which signs after a day (--after 0: at once); the former go on verifying.
retire takes a key away: what it signed is refused within a second, everywhere. Tokens live ${String(lifeMinutes)} minutes: whoever
retires a key so long after it signed last refuses nobody.

Runs beside the service, with its environment. Ends with 0 when it is done, else with 2.
`;

/** An RFC 7638 thumbprint: SHA-256 in base64url. */
const KID = /^[\w-]{43}$/;

class UsageError extends Error {}

/**
 * The operator's command over the keys a module signs with; the whole of an app's `signing-keys.ts`.
 * @returns the exit code
 */
export async function runSigningKeys(command: SigningKeysCommand): Promise<number> {
  const { args = process.argv.slice(2), write = (text) => process.stdout.write(text) } = command;
  try {
    const { values, positionals } = parseArgs({
      args: withKidLast(args),
      options: {
        after: { type: 'string' },
        json: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
      allowPositionals: true,
    });
    if (values.help) write(`${helpOf(command).trim()}\n`);
    else {
      const answer = await withKeys(command.module, (keys) =>
        run(command.purpose, keys, positionals, values),
      );
      write(`${values.json ? JSON.stringify(answer) : textOf(answer)}\n`);
    }
    return 0;
  } catch (error) {
    const usage = error instanceof UsageError ? '\n--help tells how it is used.' : '';
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}${usage}\n`);
    return 2;
  }
}

/** A kid may begin with a dash, and must not be taken for an option. */
function withKidLast(args: readonly string[]): string[] {
  const kids = args.filter((arg) => KID.test(arg));
  return kids.length === 0 ? [...args] : [...args.filter((arg) => !KID.test(arg)), '--', ...kids];
}

type Answer = { keys: ListedKey[] } | { made: string } | { retired: string };

async function run(
  purpose: string,
  keys: SigningKeys,
  [verb, kid]: string[],
  { after }: { after?: string | undefined },
): Promise<Answer> {
  if (verb === 'list') return { keys: await keys.list(purpose) };
  if (verb === 'rotate') {
    if (after !== undefined && !/^\d{1,7}$/.test(after)) throw new UsageError('--after takes whole seconds.');
    return { made: await keys.rotate(purpose, ...(after === undefined ? [] : [Number(after) * 1_000])) };
  }
  if (verb !== 'retire' || kid === undefined)
    throw new UsageError('One of list, rotate and retire KID is needed.');
  if (!(await keys.retire(purpose, kid))) throw new Error(`There is no key ${kid}.`);
  return { retired: kid };
}

async function withKeys<T>(module: string, work: (keys: SigningKeys) => Promise<T>): Promise<T> {
  log.level = 'silent'; // standard output is the command's answer
  const { DATABASE_URL: url } = readConfig(databaseConfig.pick({ DATABASE_URL: true }));
  const source = dataSourceOf({ module, entities: [], migrations: [], url, poolSize: 1 });
  const seal = new KeySeal(keyringOf(readConfig(encryptionConfig)), sealOfSigningKeys(module));
  await source.initialize();
  try {
    return await work(new SigningKeys(new Database(source), new Clock(), seal));
  } finally {
    await source.destroy();
  }
}

function textOf(answer: Answer): string {
  if ('made' in answer) return `Made ${answer.made}`;
  if ('retired' in answer) return `Retired ${answer.retired}`;
  return answer.keys
    .map(({ kid, state, usableFrom }) => `${state.padEnd(9)}  ${kid}  from ${usableFrom.toISOString()}`)
    .join('\n');
}
