import { randomUUID } from 'node:crypto';
import { type Caller } from '@customer-platform/testing';
// eslint-disable-next-line @nx/enforce-module-boundaries -- what is seeded is core's: its own lists judge it
import { startCore, type TestCore } from '../../../apps/core/src/core.fixture.js';
import { sizeOf } from './command.ts';
import { blocksOf, sharesOf } from './plan.ts';
import { seed } from './seed.ts';

const SIZE = { contacts: 60, events: 300, organizations: 4 };

interface Page<T> {
  data: T[];
}
interface Contact {
  id: string;
  external_id: string;
  email: string;
}
interface StoredEvent {
  id: string;
  contact_id: string;
  idempotency_key: string;
}

let core: TestCore;
let organizationId: string;
let caller: Caller;
const progress: number[] = [];
const run = (size = SIZE, end?: Date): Promise<number> =>
  seed({
    ...size,
    databaseUrl: core.database.adminUrl,
    organizationId,
    progress: (done) => progress.push(done),
    ...(end ? { end } : {}),
  });

beforeAll(async () => {
  core = await startCore();
  organizationId = randomUUID();
  caller = core.app.as(organizationId, [
    'core.contacts.read',
    'core.contacts.update',
    'core.events.read',
    'core.usage.read',
  ]);
  expect(await run()).toBe(360);
});
afterAll(() => core.close());

it('gives the first organization half of all, and the others the same', () => {
  const shares = sharesOf({ contacts: 1_001, events: 10_000, organizations: 11 }, organizationId);
  expect(shares[0]).toEqual({ organizationId, place: 0, contacts: 500, events: 5_000 });
  const sum = (kind: 'contacts' | 'events') => shares.reduce((total, share) => total + share[kind], 0);
  expect([sum('contacts'), sum('events')]).toEqual([1_001, 10_000]);
  expect(new Set(shares.map((share) => share.organizationId)).size).toBe(11);
  const blocks = blocksOf(sharesOf({ contacts: 30_000, events: 120_000, organizations: 1 }, organizationId));
  expect(blocks.map(({ kind, from, to }) => [kind, from, to])).toEqual([
    ['contacts', 0, 10_000],
    ['contacts', 10_000, 20_000],
    ['contacts', 20_000, 30_000],
    ['events', 0, 50_000],
    ['events', 50_000, 100_000],
    ['events', 100_000, 120_000],
  ]);
});

it('writes what core lists as it does its own: contacts with identities, events about them', async () => {
  const { body } = await caller.get<Page<Contact>>('/v1/core/contacts?limit=200');
  expect(body.data).toHaveLength(30);
  const [contact] = body.data;
  expect(contact?.external_id).toBe('load-29');
  const identities = await caller.get<Page<{ type: string; value: string }>>(
    `/v1/core/contacts/${contact?.id ?? ''}/identities`,
  );
  expect(identities.body.data.map(({ type }) => type).sort()).toEqual(['email', 'external_id', 'phone']);
  const events = await caller.get<Page<StoredEvent>>('/v1/core/events?limit=200');
  expect(events.body.data).toHaveLength(150);
  const [event] = events.body.data;
  const byKey = await caller.get<Page<{ id: string }>>(
    `/v1/core/events?idempotency_key=${event?.idempotency_key ?? ''}`,
  );
  expect(byKey.body.data.map(({ id }) => id)).toEqual([event?.id]);
  const known = new Set(body.data.map(({ id }) => id));
  expect(events.body.data.every((event) => known.has(event.contact_id))).toBe(true);
  const found = await caller.get<Page<Contact>>(`/v1/core/contacts?email=${contact?.email ?? ''}`);
  expect(found.body.data.map(({ id }) => id)).toEqual([contact?.id]);
});

it('counts what it wrote, so that usage goes on adding up', async () => {
  const { body } = await caller.get<{ totals: { events: Record<string, number> } }>('/v1/core/usage');
  expect(body.totals.events).toMatchObject({ accepted: 150, stored: 150, pending: 0 });
});

it('passes over what is there, and writes what a former run did not come to', async () => {
  expect(await run()).toBe(0);
  expect(progress.at(-1)).toBe(360);
  const [last] = await core.database.query<{ organization_id: string }>(
    'SELECT organization_id FROM events ORDER BY organization_id LIMIT 1',
  );
  await core.database.query('DELETE FROM events WHERE organization_id = $1', [last?.organization_id]);
  const written = await run();
  expect(written).toBeGreaterThan(0);
  expect(await core.database.query('SELECT count(*)::int AS count FROM events')).toEqual([{ count: 300 }]);
});

it.each([
  [{ contacts: '10', events: '5', organizations: '11' }, 'every organization needs'],
  [{ contacts: 'many', events: '5', organizations: '1' }, '--contacts takes a whole number'],
  [{ contacts: '10', events: '-1', organizations: '1' }, '--events takes a whole number from 0'],
])('%j is refused', (words, reason) => {
  expect(() => sizeOf(words)).toThrow(reason);
});
