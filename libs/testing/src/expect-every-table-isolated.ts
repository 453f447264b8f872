import type { TestDatabase } from './test-database.js';

/** TypeORM's own bookkeeping, how far consumers have come, and whose the database is: no rows of any organization. */
const NOT_ORGANIZATIONS = ['consumer_positions', 'installation', 'migrations'];

interface Finding {
  finding: string;
}

const CHECKS = `
WITH tables AS (
  SELECT c.oid, c.relname, c.relowner, c.relrowsecurity, c.relforcerowsecurity, c.relispartition FROM pg_class c
  JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE n.nspname = 'public' AND c.relkind IN ('r', 'p') AND NOT c.relname = ANY($1)
), keys AS (
  SELECT t.relname, i.relname AS name, x.indrelid AS relid, x.indkey[0] AS first
  FROM pg_index x JOIN tables t ON t.oid = x.indrelid JOIN pg_class i ON i.oid = x.indexrelid WHERE x.indisunique
  UNION ALL
  SELECT t.relname, k.conname, k.conrelid, k.conkey[1]
  FROM pg_constraint k JOIN tables t ON t.oid = k.conrelid WHERE k.contype = 'f'
), policies AS (
  SELECT t.relname, p.polname, p.polpermissive, pg_get_expr(p.polqual, p.polrelid) AS expression
  FROM pg_policy p JOIN tables t ON t.oid = p.polrelid
)
SELECT relname || ': row level security is not enabled' AS finding FROM tables WHERE NOT relrowsecurity
UNION ALL SELECT relname || ': row level security is not forced' FROM tables WHERE NOT relforcerowsecurity
UNION ALL SELECT relname || ': no policy binds it to an organization' FROM tables t
  WHERE NOT relispartition
    AND NOT EXISTS (SELECT 1 FROM policies p WHERE p.relname = t.relname AND p.polname = 'own_organization')
UNION ALL SELECT relname || ': a partition that the service''s role may name, past the policies of its table'
  FROM tables WHERE relispartition AND has_table_privilege($2, oid, 'SELECT, INSERT, UPDATE, DELETE, TRUNCATE')
UNION ALL SELECT t.relname || ': a partition with a policy of its own' FROM tables t
  JOIN policies p ON p.relname = t.relname WHERE relispartition
UNION ALL SELECT relname || ': the policy ' || polname || ' lets rows of other organizations through' FROM policies
  -- What is restrictive lets nothing through.
  WHERE polpermissive AND polname NOT IN ('own_organization', 'worker')
    OR (polname = 'own_organization' AND expression !~ 'organization_id = .*app.organization_id')
    OR (polname = 'worker' AND expression !~ 'app.worker')
UNION ALL SELECT k.relname || ': ' || k.name || ' does not begin with organization_id' FROM keys k
  LEFT JOIN pg_attribute a ON a.attrelid = k.relid AND a.attnum = k.first AND k.first > 0
  WHERE a.attname IS DISTINCT FROM 'organization_id'
UNION ALL SELECT t.relname || ': a timestamp without time zone or of other precision: ' || a.attname
  FROM tables t JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped
  WHERE a.atttypid = 'timestamp'::regtype OR (a.atttypid = 'timestamptz'::regtype AND a.atttypmod <> 3)
UNION ALL SELECT 'the service''s role ' || rolname || ' is not bound by row level security' FROM pg_roles
  WHERE rolname = $2 AND (rolsuper OR rolbypassrls)
UNION ALL SELECT relname || ': the service''s role owns it' FROM tables WHERE pg_get_userbyid(relowner) = $2
ORDER BY 1`;

/**
 * Proves that no table of the module can show a row to another organization: row level security enabled and forced,
 * only the two known policies, partitions that the service's role cannot name, `organization_id` first in every primary,
 * unique and foreign key, and a role that is bound by all that. `exempt` names tables without organization, `expected` findings that are meant so, each with a
 * reason beside the call.
 */
export async function expectEveryTableIsolated(
  database: TestDatabase,
  options: { exempt?: string[]; expected?: string[] } = {},
): Promise<void> {
  const role = decodeURIComponent(new URL(database.url).username);
  const exempt = [...NOT_ORGANIZATIONS, ...(options.exempt ?? [])];
  const findings = await database.query<Finding>(CHECKS, [exempt, role]);
  expect(findings.map(({ finding }) => finding)).toEqual(options.expected ?? []);
}
