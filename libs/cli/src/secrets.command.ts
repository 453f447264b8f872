import type { Keyring } from '@customer-platform/config';
import { reencrypt, type ReencryptedColumn, type SealedColumn } from '@customer-platform/database';
import { EXIT } from './exit-codes.js';
import { SEALING_ENVIRONMENT, withDatabase } from './module-database.js';
import type { CommandOf } from './program.js';

/** `platform secrets reencrypt`, for all columns of the module that hold sealed texts. */
export const secrets =
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- each column has a content of its own
  (columnsOf: (keyring: Keyring) => readonly SealedColumn<any>[]): CommandOf =>
    (module) => ({
      name: 'secrets',
      summary: 'secrets at rest',
      commands: [
        {
          name: 'reencrypt',
          summary: `seals all secrets at rest of ${module} anew by the first key of ENCRYPTION_KEYS`,
          details:
            'Runs beside the service, in small pieces; interrupted, it goes on when it is started again. Once it reports\n' +
            'nothing unreadable and nothing to do, no secret needs any other key.',
          environment: SEALING_ENVIRONMENT(module),
          found: 'some secrets did not open; they are left as they are',
          run: async ({ print }) => {
            const columns = await withDatabase(module, async (database, keyring) => {
              const done: ReencryptedColumn[] = [];
              for (const column of columnsOf(keyring)) done.push(await reencrypt(database, column));
              return done;
            });
            print({ module, columns }, columns.map((one) => lineOf(module, one)).join('\n'));
            return columns.some(({ unreadable }) => unreadable > 0) ? EXIT.found : EXIT.done;
          },
        },
      ],
    });

function lineOf(module: string, done: ReencryptedColumn): string {
  const { column, rows, reencrypted, changed_meanwhile: changed, unreadable } = done;
  const counts = [`${String(rows)} rows`, `${String(reencrypted)} re-encrypted`];
  if (changed > 0) counts.push(`${String(changed)} changed meanwhile`);
  if (unreadable > 0) counts.push(`${String(unreadable)} UNREADABLE`);
  return `${module}  ${column}  ${counts.join(', ')}`;
}
