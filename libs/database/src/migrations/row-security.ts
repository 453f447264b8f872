/** What a table's policies allow beyond its own organization's rows. */
export interface RowSecurity {
  /**
   * For work queues and look-up tables only: a transaction of `Database.acrossOrganizations` sees all rows.
   * Such a table's statements must name `organization_id` themselves where they mean one organization, for the
   * planner cannot use an index for "this organization or a worker".
   */
  worker?: boolean;
}

const OWN_ROWS = `organization_id = nullif(current_setting('app.organization_id', true), '')::uuid`;
const WORKER = `current_setting('app.worker', true) = 'on'`;

/**
 * The statements that bind a table's rows to the organization of the transaction. Forced: the table's owner is
 * bound as well. Without the setting no row is seen and none can be written.
 */
export function rowSecurity(table: string, options: RowSecurity = {}): string[] {
  const statements = [
    `ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY`,
    `ALTER TABLE ${table} FORCE ROW LEVEL SECURITY`,
    `CREATE POLICY own_organization ON ${table} USING (${OWN_ROWS}) WITH CHECK (${OWN_ROWS})`,
  ];
  if (options.worker) statements.push(workersSee(table));
  return statements;
}

/** The statement that gives a table the worker policy of {@link RowSecurity}. */
export function workersSee(table: string): string {
  return `CREATE POLICY worker ON ${table} USING (${WORKER}) WITH CHECK (${WORKER})`;
}

const OWN_ROWS_ONCE = `organization_id = (SELECT nullif(current_setting('app.organization_id', true), '')::uuid)`;
const WORKER_ONCE = `(SELECT current_setting('app.worker', true)) = 'on'`;

/**
 * The statements that let a table's policies read the transaction's settings once a statement instead of once a row: for
 * tables of which one statement reads thousands. Where rows are written the settings are read as before.
 */
export function settingsReadOnce(table: string, { worker = false }: RowSecurity = {}): string[] {
  return policies(table, worker, OWN_ROWS_ONCE, WORKER_ONCE);
}

/** The statements that undo {@link settingsReadOnce}. */
export function settingsReadPerRow(table: string, { worker = false }: RowSecurity = {}): string[] {
  return policies(table, worker, OWN_ROWS, WORKER);
}

function policies(table: string, worker: boolean, own: string, workers: string): string[] {
  const ownRows = `ALTER POLICY own_organization ON ${table} USING (${own})`;
  return worker ? [ownRows, `ALTER POLICY worker ON ${table} USING (${workers})`] : [ownRows];
}

/**
 * The statements that make a table INSERT-only: no grant to the module's role, and a trigger that refuses
 * UPDATE, DELETE and TRUNCATE to every role, superusers and replication sessions included.
 */
export function appendOnly(table: string): string[] {
  return [
    // Migrations run as <module>_owner; the service is <module>_app.
    `DO $$ BEGIN
       EXECUTE format('REVOKE UPDATE, DELETE, TRUNCATE ON ${table} FROM %I', regexp_replace(current_user, '_owner$', '_app'));
     END $$`,
    `CREATE OR REPLACE FUNCTION refuse_change_of_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
     BEGIN
       RAISE EXCEPTION 'table % takes INSERT only, not %', TG_TABLE_NAME, TG_OP USING ERRCODE = '42501';
     END $$`,
    `CREATE TRIGGER append_only_rows BEFORE UPDATE OR DELETE ON ${table}
     FOR EACH ROW EXECUTE FUNCTION refuse_change_of_append_only()`,
    `CREATE TRIGGER append_only_table BEFORE TRUNCATE ON ${table}
     FOR EACH STATEMENT EXECUTE FUNCTION refuse_change_of_append_only()`,
    `ALTER TABLE ${table} ENABLE ALWAYS TRIGGER append_only_rows`,
    `ALTER TABLE ${table} ENABLE ALWAYS TRIGGER append_only_table`,
  ];
}
