import { randomUUID } from 'node:crypto';
import {
  askTimeline,
  kafkaProbe,
  type TestApp,
  type TestDatabase,
  type TimelineAnswer,
  type TimelineQuestion,
} from '@customer-platform/testing';
import { aLoyaltyWorld, type LookedUpContact, type LoyaltyWorld, startLoyalty } from '../loyalty.fixture.js';
import type { TransactionDto } from './transaction.dto.js';

const FIELDS = ['id', 'occurred_at', 'kind', 'points'] as const;
const PART = { transaction: { fields: FIELDS } };

let app: TestApp;
let database: TestDatabase;
let contacts: LookedUpContact[];
let close: () => Promise<void>;
let world: LoyaltyWorld;
beforeAll(async () => {
  ({ app, database, contacts, close } = await startLoyalty());
  world = aLoyaltyWorld(app, kafkaProbe(app));
});
afterAll(() => close());

function aContact(): string {
  const id = randomUUID();
  contacts.push({ id, state: 'active', merged_into: null, version: 1 });
  return id;
}

/** Two credits and what spends of both. */
async function aContactWithPoints(): Promise<string> {
  const id = aContact();
  await world.post({ kind: 'adjust', contact_id: id, points: 5, reason: 'gift' });
  await world.post({ kind: 'adjust', contact_id: id, points: 7, reason: 'gift' });
  await world.post({ kind: 'spend', contact_id: id, points: 9, reference: randomUUID() });
  return id;
}

const ask = (contactId: string, question: Partial<TimelineQuestion> = {}): Promise<TimelineAnswer> =>
  askTimeline(app, {
    organizationId: world.organizationId,
    permissions: ['loyalty.transactions.read'],
    path: '/v1/loyalty/transactions',
    contactId,
    parts: PART,
    ...question,
  });

const listed = (contactId: string): Promise<TransactionDto[]> =>
  world.transactions(`contact_id=${contactId}&sort=-occurred_at`);

describe('what loyalty has for a timeline', () => {
  it('is what the list shows, with the lines of each transaction', async () => {
    const id = await aContactWithPoints();
    const items = await listed(id);
    expect(items.map(({ line_count: count }) => count).sort()).toEqual([1, 1, 2]);
    const heads = items.map((item) => Object.fromEntries(FIELDS.map((field) => [field, item[field]])));
    expect((await ask(id)).parts).toEqual({ transaction: { status: 200, items, heads, more: false } });
  });

  it('goes on behind a place, as far as is asked for', async () => {
    const id = await aContactWithPoints();
    const items = await listed(id);
    const [first] = items as [TransactionDto];
    const after = { occurredAt: String(first.occurred_at), id: first.id };
    const { parts } = await ask(id, { limit: 1, parts: { transaction: { fields: [], after } } });
    expect(parts?.['transaction']).toMatchObject({ items: items.slice(1, 2), more: true });
  });

  it('is nothing for a contact without points, and for another organization', async () => {
    const id = await aContactWithPoints();
    const nothing = { transaction: { status: 200, items: [], heads: [], more: false } };
    expect((await ask(aContact())).parts).toEqual(nothing);
    expect((await ask(id, { organizationId: randomUUID() })).parts).toEqual(nothing);
  });

  it('is 403 without the permission', async () => {
    const { parts } = await ask(await aContactWithPoints(), { permissions: ['loyalty.balances.read'] });
    expect(parts).toEqual({ transaction: { status: 403 } });
  });

  it('is that of all subjects of a survivor, and of the survivor for one that was merged', async () => {
    const [survivor, merged] = [await aContactWithPoints(), await aContactWithPoints()];
    const { organizationId } = world;
    await database.query(
      'UPDATE subjects SET contact_id = $3 WHERE organization_id = $1 AND contact_id = $2',
      [organizationId, merged, survivor],
    );
    await database.query(
      `UPDATE contact_refs SET state = 'merged', merged_into = $3 WHERE organization_id = $1 AND id = $2`,
      [organizationId, merged, survivor],
    );
    const items = await listed(survivor);
    expect(items).toHaveLength(6);
    for (const id of [survivor, merged]) {
      expect((await ask(id)).parts?.['transaction']).toMatchObject({ items, more: false });
    }
  });
});
