import { parseArgs } from 'node:util';
import {
  databaseConfig,
  encryptionConfig,
  keyringOf,
  readConfig,
  type Keyring,
} from '@customer-platform/config';
import { log } from '@customer-platform/http';
import { dataSourceOf } from '../data-source.js';
import { Database } from '../database.js';
import { reencrypt, type ReencryptedColumn } from './reencryption.js';
import type { SealedColumn } from './sealed-column.js';

/** What the command is run with. */
export interface ReencryptionCommand {
  readonly module: string;
  /** All columns of the module that hold sealed texts. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- each column has a content of its own
  readonly columns: (keyring: Keyring) => readonly SealedColumn<any>[];
  /** Default: what follows the script's name on the command line. */
  readonly args?: readonly string[];
  /** Default: standard output. */
  readonly write?: (text: string) => void;
}

const helpOf = (module: string): string => `
Seals all secrets at rest of ${module} anew by the first key of ENCRYPTION_KEYS.

  node apps/${module}/dist/reencrypt-secrets.js [--json]

Runs beside the service, with its environment, in small pieces; interrupted, it goes on when it is started again. Once it
reports nothing unreadable and nothing to do, no secret needs any other key. Ends with 0 when every secret opened, with 1
when some did not (they are left as they are), with 2 when it could not be done.
`;

/**
 * The operator's command that seals a module's secrets anew; the whole of an app's `reencrypt-secrets.ts`.
 * @returns the exit code
 */
export async function runReencryption(command: ReencryptionCommand): Promise<number> {
  const { module, args = process.argv.slice(2), write = (text) => process.stdout.write(text) } = command;
  try {
    const { values } = parseArgs({
      args: [...args],
      options: { json: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
    });
    if (values.help) {
      write(`${helpOf(module).trim()}\n`);
      return 0;
    }
    const columns = await reencryptAll(command);
    write(
      `${values.json ? JSON.stringify({ module, columns }) : columns.map((one) => lineOf(module, one)).join('\n')}\n`,
    );
    return columns.some(({ unreadable }) => unreadable > 0) ? 1 : 0;
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    return 2;
  }
}

async function reencryptAll({ module, columns }: ReencryptionCommand): Promise<ReencryptedColumn[]> {
  log.level = 'silent'; // standard output is the command's answer
  const { DATABASE_URL: url } = readConfig(databaseConfig.pick({ DATABASE_URL: true }));
  const keyring = keyringOf(readConfig(encryptionConfig));
  const source = dataSourceOf({ module, entities: [], migrations: [], url, poolSize: 1 });
  await source.initialize();
  try {
    const database = new Database(source);
    const done: ReencryptedColumn[] = [];
    for (const column of columns(keyring)) done.push(await reencrypt(database, column));
    return done;
  } finally {
    await source.destroy();
  }
}

function lineOf(module: string, done: ReencryptedColumn): string {
  const { column, rows, reencrypted, changed_meanwhile: changed, unreadable } = done;
  const counts = [`${String(rows)} rows`, `${String(reencrypted)} re-encrypted`];
  if (changed > 0) counts.push(`${String(changed)} changed meanwhile`);
  if (unreadable > 0) counts.push(`${String(unreadable)} UNREADABLE`);
  return `${module}  ${column}  ${counts.join(', ')}`;
}
