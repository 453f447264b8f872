import { runMigrations, type MigrationClass } from '@customer-platform/database';
import { EXIT } from './exit-codes.js';
import type { CommandOf } from './program.js';

/** `platform migrate`: the module's database is brought to the newest schema. */
export const migrate =
  (migrations: MigrationClass[]): CommandOf =>
  (module) => ({
    name: 'migrate',
    summary: `brings the database of ${module} to the newest schema`,
    details:
      'Several at once wait for each other. A migration that finds its tables locked gives way and begins anew, for\n' +
      'about five minutes. The log goes to standard output, unless JSON is asked for.',
    environment: {
      DATABASE_OWNER_URL: `the database of ${module}, as ${module}_owner`,
      LOG_LEVEL: 'how much is logged (info)',
    },
    logs: true,
    run: async ({ print }) => {
      const ran = await runMigrations({ module, migrations });
      print({ module, migrations: ran }, `${module}: ${String(ran.length)} migrations`);
      return EXIT.done;
    },
  });
