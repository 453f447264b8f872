import { randomUUID } from 'node:crypto';
import { expectStatus, kafkaProbe, type TestApp, type TestDatabase } from '@customer-platform/testing';
import {
  aLoyaltyWorld,
  aRecordedEvent,
  entomb,
  startLoyalty,
  type LookedUpContact,
  type LoyaltyWorld,
} from '../loyalty.fixture.js';
import type { LedgerSummaryDto } from './ledger-summary.dto.js';

const NONE = { count: 0, points: 0 };

let app: TestApp;
let database: TestDatabase;
let contacts: LookedUpContact[];
let close: () => Promise<void>;
beforeAll(async () => {
  ({ app, database, contacts, close } = await startLoyalty());
});
afterAll(() => close());

const aWorld = (): LoyaltyWorld => aLoyaltyWorld(app, kafkaProbe(app));

function aContact(): string {
  const id = randomUUID();
  contacts.push({ id, state: 'active', merged_into: null, version: 1 });
  return id;
}

async function summary(world: LoyaltyWorld, query: Record<string, string> = {}): Promise<LedgerSummaryDto> {
  const api = app.as(world.organizationId, ['loyalty.transactions.read']);
  const text = new URLSearchParams(query).toString();
  const answer = await api.get<LedgerSummaryDto>(`/v1/loyalty/summary${text === '' ? '' : `?${text}`}`);
  expectStatus(answer, 200);
  return answer.body;
}

describe('GET /v1/loyalty/summary', () => {
  it('sums all rows of each kind, also those of who was erased', async () => {
    const world = aWorld();
    const [kept, erased] = [aContact(), aContact()];
    await world.rule({ formula: { type: 'fixed', points: 20 }, valid_from: '2020-01-01T00:00:00Z' });
    await world.record(
      aRecordedEvent({ contact_id: kept, occurred_at: '2026-01-01T00:00:00.000Z' }),
      aRecordedEvent({ contact_id: erased, occurred_at: '2026-02-01T00:00:00.000Z' }),
    );
    const spent = await world.post({ kind: 'spend', contact_id: kept, points: 5 });
    await world.post({ kind: 'spend', contact_id: kept, points: 4 });
    await world.post({ kind: 'reverse', reverses_id: spent.id, reason: 'returned' });
    await entomb(database, world.organizationId, erased);
    const { kinds, from, to } = await summary(world);
    expect(kinds).toEqual({
      // With the point of each contact by which `record` knows that it was heard.
      earn: { count: 4, points: 42 },
      spend: { count: 2, points: -9 },
      reverse: { count: 1, points: 5 },
      adjust: NONE,
      expire: NONE,
    });
    expect(Date.parse(to) - Date.parse(from)).toBe(86_400_000);
  });

  it('counts more than a page of the list holds', async () => {
    const world = aWorld();
    const contact = aContact();
    await Promise.all(
      Array.from({ length: 210 }, () =>
        world.post({ kind: 'adjust', contact_id: contact, points: 2, reason: 'gift' }),
      ),
    );
    expect((await summary(world)).kinds.adjust).toEqual({ count: 210, points: 420 });
  });

  it('counts what was created from an instant on and before another, and nothing of another organization', async () => {
    const world = aWorld();
    const { created_at: at } = await world.post({
      kind: 'adjust',
      contact_id: aContact(),
      points: 7,
      reason: 'gift',
    });
    const before = new Date(Date.parse(at) - 1_000).toISOString();
    const after = new Date(Date.parse(at) + 1_000).toISOString();
    const one = { count: 1, points: 7 };
    expect((await summary(world, { from: at, to: after })).kinds.adjust).toEqual(one);
    expect((await summary(world, { from: before, to: after })).kinds.adjust).toEqual(one);
    expect((await summary(world, { from: before, to: at })).kinds.adjust).toEqual(NONE);
    expect((await summary(world, { from: after, to: after })).kinds.adjust).toEqual(NONE);
    expect((await summary(aWorld())).kinds.adjust).toEqual(NONE);
  });

  it.each([
    ['from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z', 'out_of_range'],
    ['from=2026-01-01T00:00:00Z&to=2026-01-08T00:00:01Z', 'out_of_range'],
    ['from=yesterday', 'invalid_format'],
    ['since=2026-01-01T00:00:00Z', 'unknown_parameter'],
  ])('refuses %s', async (query, code) => {
    const api = app.as(aWorld().organizationId, ['loyalty.transactions.read']);
    const answer = await api.get(`/v1/loyalty/summary?${query}`);
    expectStatus(answer, 400);
    expect(JSON.stringify(answer.body)).toContain(code);
  });
});
