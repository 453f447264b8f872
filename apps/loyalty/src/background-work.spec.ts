import { randomUUID } from 'node:crypto';
import { Clock } from '@customer-platform/database';
import {
  followedContacts,
  itHoldsUpNoOther,
  kafkaProbe,
  outboxRows,
  retainedByAll,
  retainedRows,
  type TestApp,
  type TestDatabase,
} from '@customer-platform/testing';
import { aLoyaltyWorld, type LoyaltyWorld, startLoyalty } from './loyalty.fixture.js';

/** Posts of a contact wait for each other. */
const AT_ONCE = 20;
/** More than the sweep takes at once: those that fail fill a pass. */
const MANY = 600;

let app: TestApp;
let database: TestDatabase;
let close: () => Promise<void>;
const worlds = new Map<string, LoyaltyWorld>();
const contactOf = new Map<string, string>();
afterAll(() => close());

async function count(sql: string, organizationId: string): Promise<number> {
  const [row] = await database.query<{ count: number }>(sql, [organizationId]);
  return row?.count ?? NaN;
}

itHoldsUpNoOther({
  start: async () => {
    const loyalty = await startLoyalty();
    ({ app, database, close } = loyalty);
    let ahead = 0;
    loyalty.app.app.get(Clock).now = () => new Date(Date.now() + ahead);
    return {
      database,
      organization: () => {
        const world = aLoyaltyWorld(loyalty.app, kafkaProbe(loyalty.app));
        const contact = randomUUID();
        loyalty.contacts.push({ id: contact, state: 'active', merged_into: null, version: 1 });
        worlds.set(world.organizationId, world);
        contactOf.set(world.organizationId, contact);
        return world.organizationId;
      },
      pass: (ms) => (ahead += ms),
    };
  },
  scenarios: {
    'outbox-relay': outboxRows(() => ({ app, database }), 'loyalty.domain-events'),
    'loyalty.domain-events': followedContacts(() => ({ app, database })),
    'idempotency-retention': retainedRows(() => ({ database }), retainedByAll['idempotency-retention']),
    'inbox-retention': retainedRows(() => ({ database }), retainedByAll['inbox-retention']),
    'lot-expiry': {
      many: MANY,
      give: async (organizationId, rows) => {
        const world = worlds.get(organizationId);
        const body = { kind: 'adjust', contact_id: contactOf.get(organizationId), points: 7, reason: 'x' };
        const lots = Array.from({ length: rows }, () => ({
          ...body,
          expires_at: '2090-01-01T00:00:00.000Z',
        }));
        for (let from = 0; from < rows; from += AT_ONCE)
          await Promise.all(lots.slice(from, from + AT_ONCE).map(async (lot) => world?.post(lot)));
        await database.query("UPDATE lot_balances SET expires_at = '2026-01-01' WHERE organization_id = $1", [
          organizationId,
        ]);
      },
      fault: (organizationId) => ({
        table: 'transactions',
        on: 'INSERT',
        when: `NEW.organization_id = '${organizationId}' AND NEW.kind = 'expire'`,
      }),
      left: (organizationId) =>
        count(
          "SELECT count(*)::int FROM lot_balances WHERE organization_id = $1 AND remaining > 0 AND expires_at < '2026-02-01'",
          organizationId,
        ),
    },
  },
  without: {},
  mixed: true,
  mostWithout: 0,
});
