import { randomUUID } from 'node:crypto';
import {
  type InternalPeer,
  type KafkaProbe,
  type TestApp,
  eventually,
  expectProblem,
  expectStatus,
  kafkaProbe,
} from '@customer-platform/testing';
import {
  type LookedUpContact,
  type LoyaltyWorld,
  MARKERS,
  aContactChange,
  aLoyaltyWorld,
  aRecordedEvent,
  startLoyalty,
} from '../loyalty.fixture.js';
import type { BalanceDto } from './transaction.dto.js';

let app: TestApp;
let core: InternalPeer;
let contacts: LookedUpContact[];
let probe: KafkaProbe;
let close: () => Promise<void>;
let world: LoyaltyWorld;
beforeAll(async () => {
  ({ app, core, contacts, close } = await startLoyalty());
  probe = kafkaProbe(app);
});
afterAll(() => close());
beforeEach(() => {
  world = aLoyaltyWorld(app, probe);
});

const at = (contactId: string): string => `/v1/loyalty/contacts/${contactId}/balance`;
const knownToCore = (overrides: Partial<LookedUpContact> = {}): LookedUpContact => {
  const contact = { id: randomUUID(), state: 'active' as const, merged_into: null, version: 1, ...overrides };
  contacts.push(contact);
  return contact;
};

describe('GET /v1/loyalty/contacts/{id}/balance', () => {
  it('sums up, and lists the lots that will end, soonest first', async () => {
    const long = await world.rule({ formula: { type: 'fixed', points: 5 }, expires_after_days: 30 });
    const short = await world.rule({ formula: { type: 'fixed', points: 7 }, expires_after_days: 2 });
    const event = aRecordedEvent();
    await world.record(event);
    const balance = await world.balance(event.contact_id);
    expect(balance).toMatchObject({
      contact_id: event.contact_id,
      points: 12 + MARKERS,
      available: 12 + MARKERS,
    });
    const [byLong, byShort] = [long, short].map(({ id }) => id);
    const rows = await world.transactions(`contact_id=${event.contact_id}`);
    const lotOf = (ruleId: string | undefined) => rows.find((row) => row.rule_id === ruleId);
    expect(balance.expiring).toEqual([
      { lot_id: lotOf(byShort)?.id, points: 7, expires_at: lotOf(byShort)?.expires_at },
      { lot_id: lotOf(byLong)?.id, points: 5, expires_at: lotOf(byLong)?.expires_at },
    ]);
    expect(Date.parse(balance.as_of)).toBeLessThanOrEqual(Date.now());
  });

  it('lists the next 100 lots that will end, of any number', async () => {
    const contact = knownToCore();
    const ends = Array.from({ length: 105 }, (_, day) => new Date(Date.UTC(2080, 0, 1 + day)).toISOString());
    for (const expires_at of [...ends].reverse()) {
      await world.post({ kind: 'adjust', contact_id: contact.id, points: 1, reason: 'x', expires_at });
    }
    const balance = await world.balance(contact.id);
    expect(balance).toMatchObject({ points: 105, available: 105 });
    expect(balance.expiring.map((lot) => lot.expires_at)).toEqual(ends.slice(0, 100));
  });

  it('zeros for a contact without transactions, soft-deleted or not; core is asked once', async () => {
    const contact = knownToCore({ state: 'deleted' });
    for (let time = 0; time < 2; time += 1) {
      const answer = await world.caller.get<BalanceDto>(at(contact.id));
      expectStatus(answer, 200);
      expect(answer.body).toMatchObject({ contact_id: contact.id, points: 0, available: 0, expiring: [] });
    }
    const asked = core.calls.filter(({ body }) => JSON.stringify(body).includes(contact.id));
    expect(asked).toEqual([
      {
        route: 'POST /internal/contacts/lookup',
        body: { organization_id: world.organizationId, ids: [contact.id] },
      },
    ]);
  });

  it('307 to the survivor of a merge, also of a chain that only core knows', async () => {
    const survivor = knownToCore();
    const middle = knownToCore({ state: 'merged', merged_into: survivor.id });
    const merged = knownToCore({ state: 'merged', merged_into: middle.id });
    const answer = await world.caller.get(at(merged.id));
    expectStatus(answer, 307);
    expect(answer.headers.get('location')).toBe(at(survivor.id));
    expectStatus(await world.caller.get(at(survivor.id)), 200);
  });

  it('one 404 for what never was, was erased or was purged', async () => {
    const purged = randomUUID();
    const erased = randomUUID();
    const organizationId = world.organizationId;
    const { contact: _, ...end } = aContactChange(purged, 2);
    await probe.publish({ type: 'core.contact.purged.v1', organizationId, data: { ...end, contact: null } });
    await probe.publish({
      type: 'core.contact.erased.v1',
      organizationId,
      data: { ...end, contact_id: erased, contact: null },
    });
    // Whatever core's look-up may still say, an erased contact stays away.
    knownToCore({ id: erased, state: 'active' });
    for (const id of [purged, erased, randomUUID(), knownToCore({ state: 'erased' }).id]) {
      await eventually(async () => expectProblem(await world.caller.get(at(id)), 404, 'not_found'));
    }
  });

  it('503 when core must be asked and is silent; not for a contact that is known', async () => {
    const event = aRecordedEvent();
    await world.rule();
    await world.record(event);
    core.outage(true);
    try {
      expectProblem(await world.caller.get(at(randomUUID())), 503, 'dependency_unavailable');
      expectStatus(await world.caller.get(at(event.contact_id)), 200);
    } finally {
      core.outage(false);
    }
  });

  it('403 without its permission, 400 for what is no id', async () => {
    const caller = app.as(world.organizationId, ['loyalty.transactions.read']);
    expectProblem(await caller.get(at(randomUUID())), 403, 'permission_denied');
    expectProblem(await world.caller.get(at('x')), 400, 'invalid_id');
    expectProblem(await world.caller.get(`${at(randomUUID())}?as_of=now`), 400, 'unknown_parameter');
  });
});
