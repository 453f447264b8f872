import type { WorkScenario } from './background-work.suite.js';
import type { TestDatabase } from './test-database.js';

/** All retentions are one class, whose own spec tries a thousand rows. */
const MANY = 100;

/** Rows of a table that have had their time, as a module's retention finds them. */
export interface RetainedRows {
  readonly table: string;
  /** SQL of one row in which `$1` is the organization; `n` numbers the rows. */
  readonly row: Readonly<Record<string, string>>;
  /** The column that says whose a row is, as the organization's id; default `organization_id`. */
  readonly whose?: string;
  /** SQL of what is there before the rows, of the organization `$1`. */
  readonly before?: string;
}

/** Rows that a retention removes. */
export function retainedRows(
  module: () => { readonly database: TestDatabase },
  { table, row, whose = 'organization_id', before }: RetainedRows,
): WorkScenario {
  const columns = [whose, ...Object.keys(row)].join(', ');
  const values = ['$1', ...Object.values(row)].join(', ');
  return {
    many: MANY,
    give: async (organizationId, rows) => {
      const { database } = module();
      if (before !== undefined) await database.query(before, [organizationId]);
      await database.query(
        `INSERT INTO ${table} (${columns}) SELECT ${values} FROM generate_series(1, $2::int) AS n`,
        [organizationId, rows],
      );
    },
    fault: (organizationId) => ({ table, on: 'DELETE', when: `OLD.${whose} = '${organizationId}'` }),
    left: async (organizationId) => {
      const rows = await module().database.query(`SELECT FROM ${table} WHERE ${whose} = $1`, [
        organizationId,
      ]);
      return rows.length;
    },
  };
}

/** The retentions that each module has: of kept answers, and, where it hears of others, of the events that it has had. */
export const retainedByAll = {
  'idempotency-retention': {
    table: 'idempotency_keys',
    row: {
      route: `'POST /'`,
      key_hash: `sha256(n::text::bytea)`,
      fingerprint: `'x'`,
      expires_at: `now() - interval '1 day'`,
    },
  },
  'inbox-retention': {
    table: 'inbox',
    row: { consumer: `'spec'`, event_id: 'gen_random_uuid()', claimed_at: `now() - interval '1 year'` },
  },
} satisfies Record<string, RetainedRows>;
