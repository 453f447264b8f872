import { Clock } from '@customer-platform/database';
import {
  anOrganization,
  followedContacts,
  itHoldsUpNoOther,
  outboxRows,
  retainedByAll,
  retainedRows,
} from '@customer-platform/testing';
import { startCrm, type TestCrm } from './crm.fixture.js';

let crm: TestCrm;
afterAll(() => crm.close());

/** A queue whose rows are removed when they are done; what they are about is gone already. */
const queue = (table: string, columns: string, values: string) => ({
  give: async (organizationId: string, rows: number): Promise<void> => {
    await crm.database.query(
      `INSERT INTO ${table} (organization_id, ${columns}) SELECT $1, ${values} FROM generate_series(1, $2::int) AS n`,
      [organizationId, rows],
    );
  },
  fault: (organizationId: string) =>
    ({ table, on: 'DELETE', when: `OLD.organization_id = '${organizationId}'` }) as const,
  left: async (organizationId: string): Promise<number> => {
    const rows = await crm.database.query(`SELECT FROM ${table} WHERE organization_id = $1`, [
      organizationId,
    ]);
    return rows.length;
  },
});

itHoldsUpNoOther({
  start: async () => {
    crm = await startCrm({ events: true });
    let ahead = 0;
    crm.app.app.get(Clock).now = () => new Date(Date.now() + ahead);
    return { database: crm.database, organization: () => anOrganization().id, pass: (ms) => (ahead += ms) };
  },
  scenarios: {
    'outbox-relay': outboxRows(() => crm, 'crm.domain-events'),
    'crm.domain-events': followedContacts(() => crm),
    'contact-records': queue(
      'contact_record_jobs',
      'contact_id, contacts',
      'gen_random_uuid(), ARRAY[gen_random_uuid()]',
    ),
    'object-indexes': queue(
      'object_index_jobs',
      'definition_id, number, work',
      "gen_random_uuid(), 1, 'build'",
    ),
    'idempotency-retention': retainedRows(() => crm, retainedByAll['idempotency-retention']),
    'inbox-retention': retainedRows(() => crm, retainedByAll['inbox-retention']),
  },
  without: {},
  mixed: true,
  mostWithout: 0,
});
