import { randomUUID } from 'node:crypto';
import {
  type KafkaProbe,
  type TestApp,
  type TestDatabase,
  eventually,
  expectProblem,
  expectStatus,
  kafkaProbe,
} from '@customer-platform/testing';
import {
  type LoyaltyWorld,
  MARKERS,
  aLoyaltyWorld,
  aRecordedEvent,
  startLoyalty,
} from '../loyalty.fixture.js';

let app: TestApp;
let database: TestDatabase;
let probe: KafkaProbe;
let close: () => Promise<void>;
const aWorld = (): LoyaltyWorld => aLoyaltyWorld(app, probe);
beforeAll(async () => {
  ({ app, database, close } = await startLoyalty());
  probe = kafkaProbe(app);
  probe.collect('loyalty');
});
afterAll(() => close());

describe('an event that a rule earns points for', () => {
  it('posts them once under the event’s correlation id, and tells of it', async () => {
    const world = aWorld();
    const rule = await world.rule();
    const event = aRecordedEvent();
    await world.record(event, event, event);
    const posted = await world.transactions(`event_id=${event.event_id}`);
    expect(posted).toEqual([
      expect.objectContaining({
        contact_id: event.contact_id,
        kind: 'earn',
        points: 12,
        rule_id: rule.id,
        rule_version: 1,
        event_id: event.event_id,
        correlation_id: event.event_id,
        occurred_at: event.occurred_at,
        actor: { type: 'system', id: 'loyalty' },
        tombstoned_at: null,
      }),
    ]);
    expect(posted[0]?.lines).toEqual([{ lot_id: posted[0]?.id, points: 12 }]);
    const [told] = await probe.expectEvents('loyalty.points.earned.v1', world.organizationId, 1);
    expect(told).toMatchObject({
      correlationid: event.event_id,
      data: {
        transaction_id: posted[0]?.id,
        points: 12,
        available: expect.any(Number),
        event_id: event.event_id,
        rule_id: rule.id,
      },
    });
    expect(await world.balance(event.contact_id)).toMatchObject({
      points: 12 + MARKERS,
      available: 12 + MARKERS,
    });
  });

  it('stays one of 1,000 deliveries, however they are spread', async () => {
    const world = aWorld();
    await world.rule();
    const event = aRecordedEvent();
    await world.record(...Array.from({ length: 1_000 }, () => event));
    expect(await world.transactions(`event_id=${event.event_id}`)).toHaveLength(1);
  });

  it('is tried against rules in the order of their ids', async () => {
    const world = aWorld();
    const made = [];
    for (let points = 1; points <= 5; points += 1) {
      made.push(await world.rule({ formula: { type: 'fixed', points } }));
    }
    const event = aRecordedEvent();
    await world.record(event);
    const rows = await world.transactions(`event_id=${event.event_id}`);
    const byId = [...rows].sort((a, b) => (a.id < b.id ? -1 : 1));
    expect(byId.map((row) => row.rule_id)).toEqual(made.map(({ id }) => id).sort());
  });

  it('earns nothing anew when a merge has moved it to another contact', async () => {
    const world = aWorld();
    await world.rule({ formula: { type: 'fixed', points: 5 } });
    const event = aRecordedEvent();
    await world.record(event);
    const moved = { ...event, contact_id: randomUUID() };
    await world.record(moved);
    expect(await world.transactions(`event_id=${event.event_id}`)).toEqual([
      expect.objectContaining({ contact_id: event.contact_id, points: 5 }),
    ]);
    expect((await world.balance(moved.contact_id)).points).toBe(MARKERS);
  });

  it('adds up the rules, leaves out those that do not apply', async () => {
    const world = aWorld();
    await world.rule({ formula: { type: 'fixed', points: 7 } });
    await world.rule({
      conditions: [{ property: 'channel', op: 'eq', value: 'web' }],
      formula: { type: 'fixed', points: 100 },
    });
    await world.rule({ event: 'other', formula: { type: 'fixed', points: 1_000 } });
    await world.rule({ enabled: false, formula: { type: 'fixed', points: 1_000 } });
    await world.rule({ valid_from: '2030-01-01T00:00:00Z', formula: { type: 'fixed', points: 1_000 } });
    const web = aRecordedEvent({ properties: { channel: 'web' } });
    const shop = aRecordedEvent({ contact_id: web.contact_id, properties: { channel: 'shop' } });
    await world.record(web, shop);
    expect((await world.balance(web.contact_id)).points).toBe(107 + 7 + MARKERS);
  });

  it('earns nothing from before its creation, in another currency, or for no amount', async () => {
    const world = aWorld();
    await world.rule();
    const contact_id = randomUUID();
    const of = (properties: Record<string, unknown>, overrides = {}) =>
      aRecordedEvent({ contact_id, properties, ...overrides });
    await world.record(
      of({ amount: 5_000, currency: 'CLP' }, { occurred_at: '2020-01-01T00:00:00.000Z' }),
      of({ amount: 5_000, currency: 'USD' }),
      of({ amount: -5_000, currency: 'CLP' }),
      of({ amount: 5_000.5, currency: 'CLP' }),
      of({ amount: '5000', currency: 'CLP' }),
      of({ currency: 'CLP' }),
      of({ amount: 999, currency: 'CLP' }),
    );
    expect((await world.balance(contact_id)).points).toBe(MARKERS);
  });

  it('is judged by the version in force when it was received', async () => {
    const world = aWorld();
    const rule = await world.rule({
      formula: { type: 'fixed', points: 10 },
      valid_from: '2020-01-01T00:00:00Z',
    });
    const received = new Date().toISOString();
    await world.caller.patch(`/v1/loyalty/rules/${rule.id}`, { formula: { type: 'fixed', points: 20 } });
    const early = aRecordedEvent({ received_at: received });
    const late = aRecordedEvent({ received_at: new Date(Date.now() + 1_000).toISOString() });
    await world.record(early, late);
    expect((await world.transactions(`event_id=${early.event_id}`))[0]).toMatchObject({
      points: 10,
      rule_version: 1,
    });
    expect((await world.transactions(`event_id=${late.event_id}`))[0]).toMatchObject({
      points: 20,
      rule_version: 2,
    });
  });

  it('gives by a replay what its first try would have given, whatever became of the rule, and once', async () => {
    const world = aWorld();
    const rule = await world.rule({ formula: { type: 'fixed', points: 10 } });
    const event = aRecordedEvent({ received_at: new Date(Date.now() + 1).toISOString() });
    await eventually(() => expect(Date.now()).toBeGreaterThan(Date.parse(event.received_at)));
    const at = `/v1/loyalty/rules/${rule.id}`;
    await world.caller.patch(at, { formula: { type: 'fixed', points: 20 } });
    await world.caller.delete(at);
    const replayed = (stage: 'profile' | 'loyalty') =>
      probe.publish({
        type: 'core.dead_letter.replayed.v1',
        organizationId: world.organizationId,
        data: { event_id: event.event_id, stage, recorded: event },
      });
    for (const stage of ['profile', 'loyalty', 'loyalty'] as const) await replayed(stage);
    const [earned] = await eventually(async () => {
      const rows = await world.transactions(`event_id=${event.event_id}`);
      expect(rows).toHaveLength(1);
      return rows;
    });
    expect(earned).toMatchObject({ points: 10, rule_id: rule.id, rule_version: 1 });
    await world.record(aRecordedEvent({ contact_id: event.contact_id, event: 'another' }));
    expect(await world.transactions(`event_id=${event.event_id}`)).toHaveLength(1);
  });

  it('is cut to what is left of the contact’s cap, each period by itself, in any order of arrival', async () => {
    const world = aWorld();
    await world.rule({
      formula: { type: 'fixed', points: 4 },
      valid_from: '2020-01-01T00:00:00Z',
      max_per_contact: { points: 10, period: 'day', timezone: 'America/Santiago' },
    });
    const contact_id = randomUUID();
    // 02:59 and 03:01 UTC are the evening before and the morning after in Santiago's summer.
    const evening = Array.from({ length: 4 }, () =>
      aRecordedEvent({ contact_id, occurred_at: '2026-01-15T02:59:00.000Z' }),
    );
    const morning = aRecordedEvent({ contact_id, occurred_at: '2026-01-15T03:01:00.000Z' });
    await world.record(evening[0] as never, morning, ...(evening.slice(1) as never[]));
    const points = (await world.transactions(`contact_id=${contact_id}&sort=occurred_at`)).map(
      (row) => row.points,
    );
    expect(points.slice(0, 4).sort()).toEqual([2, 4, 4, 4]);
  });

  it('earns nothing for a soft-deleted contact, and again after its restore', async () => {
    const world = aWorld();
    await world.rule({ formula: { type: 'fixed', points: 3 } });
    const event = aRecordedEvent();
    const contact = {
      id: event.contact_id,
      external_id: 'customer-1',
      email: null,
      phone: null,
      first_name: null,
      last_name: null,
      locale: null,
      timezone: null,
      country: null,
      attributes: {},
    };
    const change = { contact_id: event.contact_id, changed_fields: ['deleted_at'] };
    const organizationId = world.organizationId;
    await probe.publish({
      type: 'core.contact.deleted.v1',
      organizationId,
      data: { ...change, version: 2, contact: { ...contact, state: 'deleted' } },
    });
    await probe.publish({ type: 'core.event.recorded.v1', organizationId, data: event });
    await probe.publish({
      type: 'core.contact.restored.v1',
      organizationId,
      data: { ...change, version: 3, contact: { ...contact, state: 'active' } },
    });
    const after = aRecordedEvent({ contact_id: event.contact_id });
    await world.record(after);
    expect(await world.transactions(`event_id=${event.event_id}`)).toEqual([]);
    // Not even a row without a name: one of the event after it, one of the marker.
    expect((await world.transactions()).map((row) => row.points).sort()).toEqual([MARKERS, 3]);
    expect(await world.transactions(`event_id=${after.event_id}`)).toHaveLength(1);
  });

  it('becomes a dead letter of core where no number can hold the points, and holds nothing back', async () => {
    const world = aWorld();
    await world.rule({ formula: { type: 'per_amount', currency: 'CLP', per: 1, points: 1_000_000 } });
    const poison = aRecordedEvent({ properties: { amount: Number.MAX_SAFE_INTEGER, currency: 'CLP' } });
    const good = aRecordedEvent({
      contact_id: poison.contact_id,
      properties: { amount: 1, currency: 'CLP' },
    });
    await world.record(poison, good);
    expect((await world.balance(poison.contact_id)).points).toBe(1_000_000 + MARKERS);
    const [failed] = await probe.expectEvents('loyalty.evaluation.failed.v1', world.organizationId, 1);
    expect(failed?.data).toMatchObject({
      event_id: poison.event_id,
      code: 'points_out_of_range',
      attempts: 1,
    });
  });

  it('takes no other rule’s points with it where one rule fails, which is told by itself', async () => {
    const world = aWorld();
    const cap = { points: 15, period: 'day', timezone: 'UTC' };
    const formula = { type: 'fixed', points: 10 };
    const before = await world.rule({ formula: { type: 'fixed', points: 3 } });
    const failing = await world.rule({ formula, max_per_contact: cap });
    await world.rule({ formula: { type: 'fixed', points: 4 } });
    // A period that PostgreSQL has not heard of.
    const setPeriod = (period: string) =>
      database.query(
        `UPDATE rule_versions SET max_per_contact = jsonb_set(max_per_contact, '{period}', to_jsonb($2::text))
          WHERE rule_id = $1`,
        [failing.id, period],
      );
    await setPeriod('fortnight');
    // The second one comes near the cap.
    const [first, event] = [aRecordedEvent(), aRecordedEvent()];
    event.contact_id = first.contact_id;
    await world.record(first);
    await world.record(event);
    const earned = await world.transactions(`event_id=${event.event_id}`);
    expect(earned.map(({ points }) => points).sort()).toEqual([3, 4]);
    expect(earned.map((row) => row.rule_id)).toContain(before.id);
    const [told] = await probe.expectEvents('loyalty.evaluation.failed.v1', world.organizationId, 1);
    expect(told?.data).toEqual({
      event_id: event.event_id,
      contact_id: event.contact_id,
      code: 'evaluation_failed',
      attempts: 1,
      rule_id: failing.id,
    });
    await setPeriod('day');
    // Whoever keeps rules in memory reads them anew.
    await world.rule({ event: 'another' });
    await probe.publish({
      type: 'core.dead_letter.replayed.v1',
      organizationId: world.organizationId,
      data: { event_id: event.event_id, stage: 'loyalty', recorded: event },
    });
    await eventually(async () => {
      const all = await world.transactions(`event_id=${event.event_id}`);
      expect(all.map(({ points }) => points).sort()).toEqual([3, 4, 5]);
    });
  });

  it('keeps a rule that has earned from being purged', async () => {
    const world = aWorld();
    const rule = await world.rule();
    await world.record(aRecordedEvent());
    expectStatus(await world.caller.delete(`/v1/loyalty/rules/${rule.id}`), 204);
    const problem = expectProblem(
      await world.caller.delete(`/v1/loyalty/rules/${rule.id}/purge`),
      409,
      'resource_referenced',
    );
    expect(problem['references']).toEqual([{ module: 'loyalty', resource: 'transactions', count: 1 }]);
  });
});
