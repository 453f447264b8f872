/**
 * `node infra/compatibility/check-migrations.ts [--sql]`
 *
 * Has squawk judge the SQL of every built migration that is newer than the baseline: what locks a table in use, and what
 * takes away something that the release before still names. `--sql` prints the SQL instead. Ends with exit code 1 on a
 * finding that excused-migrations.json does not give a reason for.
 */
import { ROOT } from '@customer-platform/local/platform/modules.ts';
import { findingsIn, readExcuses, unexcused } from './migration-findings.ts';
import { migrationsOf, sqlOf } from './migration-sql.ts';

const excuses = readExcuses();
const all = await migrationsOf(ROOT);
const judged = all.filter(({ timestamp }) => timestamp > excuses.baseline);
if (process.argv.includes('--sql')) {
  for (const migration of judged)
    console.log(`-- ${migration.module} ${migration.name}\n${sqlOf(migration)}`);
} else {
  const { findings, idle } = unexcused(findingsIn(judged), excuses);
  for (const { migration, rule, message, statement } of findings)
    console.log(`${migration}: ${rule}: ${message}\n    ${statement}`);
  for (const excuse of idle) console.log(`excused-migrations.json excuses what is not there: ${excuse}`);
  console.log(`${judged.length} of ${all.length} migrations judged, ${findings.length} findings.`);
  process.exitCode = findings.length + idle.length > 0 ? 1 : 0;
}
