import { randomUUID } from 'node:crypto';
import {
  type KafkaProbe,
  type TestApp,
  type TestDatabase,
  eventually,
  kafkaProbe,
} from '@customer-platform/testing';
import {
  type LoyaltyWorld,
  aContactChange,
  aLoyaltyWorld,
  aRecordedEvent,
  MARKERS,
  startLoyalty,
} from '../loyalty.fixture.js';

let app: TestApp;
let database: TestDatabase;
let probe: KafkaProbe;
let close: () => Promise<void>;
let world: LoyaltyWorld;
beforeAll(async () => {
  ({ app, database, close } = await startLoyalty());
  probe = kafkaProbe(app);
  probe.collect('loyalty');
});
afterAll(() => close());
beforeEach(() => {
  world = aLoyaltyWorld(app, probe);
});

const told = (
  type: 'core.contact.merged.v1' | 'core.contact.unmerged.v1',
  survivor: string,
  merged: string,
  version: number,
) =>
  probe.publish({
    type,
    organizationId: world.organizationId,
    data: {
      merge_id: randomUUID(),
      survivor_id: survivor,
      merged_id: merged,
      survivor_version: version,
      merged_version: version,
    },
  });
const merge = (survivor: string, merged: string, version: number) =>
  told('core.contact.merged.v1', survivor, merged, version);
const undo = (survivor: string, merged: string, version: number) =>
  told('core.contact.unmerged.v1', survivor, merged, version);
const pointsOf = async (contactId: string): Promise<number> => (await world.balance(contactId)).points;

describe('merged contacts', () => {
  it('bring their points to the survivor and take them back by an undo; no ledger row changes', async () => {
    await world.rule({ formula: { type: 'fixed', points: 10 } });
    const [a, b, c] = [aRecordedEvent(), aRecordedEvent(), aRecordedEvent()];
    await world.record(a, b, c);
    const each = 10 + MARKERS;
    const ledger = () =>
      database.query(
        `SELECT t.*, l.* FROM transactions t JOIN lines l ON (l.organization_id, l.transaction_id) = (t.organization_id, t.id)
         WHERE t.organization_id = $1 ORDER BY t.id`,
        [world.organizationId],
      );
    const before = await ledger();

    await merge(b.contact_id, a.contact_id, 2);
    await eventually(async () => expect(await pointsOf(b.contact_id)).toBe(2 * each));
    await merge(c.contact_id, b.contact_id, 3);
    await eventually(async () => expect(await pointsOf(c.contact_id)).toBe(3 * each));
    // In a filter a merged id means its survivor.
    for (const { contact_id: id } of [a, b, c]) {
      expect(await world.transactions(`contact_id=${id}`)).toHaveLength(6);
    }
    const both = await world.transactions(`contact_id[in]=${a.contact_id},${randomUUID()}`);
    expect(new Set(both.map((row) => row.contact_id))).toEqual(new Set([c.contact_id]));

    await undo(c.contact_id, b.contact_id, 4);
    await eventually(async () => expect(await pointsOf(c.contact_id)).toBe(each));
    expect(await pointsOf(b.contact_id)).toBe(2 * each);
    await undo(b.contact_id, a.contact_id, 5);
    await eventually(async () => expect(await pointsOf(b.contact_id)).toBe(each));
    expect(await pointsOf(a.contact_id)).toBe(each);
    expect(await ledger()).toEqual(before);
  });

  it('count one cap together, and an event that still names the merged one earns for the survivor', async () => {
    await world.rule({
      formula: { type: 'fixed', points: 8 },
      max_per_contact: { points: 10, period: 'lifetime' },
    });
    const [first, second] = [aRecordedEvent(), aRecordedEvent()];
    await world.record(first, second);
    await merge(second.contact_id, first.contact_id, 2);
    await eventually(async () => expect(await pointsOf(second.contact_id)).toBe(16 + 2 * MARKERS));
    const late = aRecordedEvent({ contact_id: first.contact_id });
    await world.record(late);
    expect(await world.transactions(`event_id=${late.event_id}`)).toEqual([]);
  });

  it('end the same however often and in whatever order merge and undo arrive', async () => {
    await world.rule({ formula: { type: 'fixed', points: 10 } });
    const [a, b] = [aRecordedEvent(), aRecordedEvent()];
    await world.record(a, b);
    await undo(b.contact_id, a.contact_id, 3);
    await merge(b.contact_id, a.contact_id, 2);
    await merge(b.contact_id, a.contact_id, 2);
    const later = aRecordedEvent({ contact_id: a.contact_id });
    await world.record(later);
    expect(await pointsOf(a.contact_id)).toBe(20 + 2 * MARKERS);
    expect(await pointsOf(b.contact_id)).toBe(10 + MARKERS);
  });

  it('parted by an undo, are both told what a reversal of what they spent together gives back', async () => {
    await world.rule({ formula: { type: 'fixed', points: 10 } });
    const [a, b] = [aRecordedEvent(), aRecordedEvent()];
    await world.record(a, b);
    await merge(b.contact_id, a.contact_id, 2);
    await eventually(async () => expect(await pointsOf(b.contact_id)).toBe(2 * (10 + MARKERS)));
    const debit = await world.post({ kind: 'spend', contact_id: b.contact_id, points: 2 * (10 + MARKERS) });
    await undo(b.contact_id, a.contact_id, 3);
    await eventually(async () => {
      await world.record(aRecordedEvent({ event: 'other', contact_id: a.contact_id }));
      expect(await pointsOf(b.contact_id)).toBe(0);
    });
    const [before] = [await pointsOf(a.contact_id)];
    const reversal = await world.post({ kind: 'reverse', reverses_id: debit.id, reason: 'x' });
    const told = await probe.expectEvents('loyalty.points.reversed.v1', world.organizationId, 2);
    const each = 10 + MARKERS;
    expect(new Map(told.map(({ data }) => [data.contact_id, [data.points, data.available]]))).toEqual(
      new Map([
        [a.contact_id, [each, before + each]],
        [b.contact_id, [each, each]],
      ]),
    );
    expect(told.map(({ data }) => data.transaction_id)).toEqual([reversal.id, reversal.id]);
  });

  it('parted, earn by themselves before their undo is heard of, and with it change nothing', async () => {
    await world.rule({ formula: { type: 'fixed', points: 10 } });
    const [a, b] = [aRecordedEvent(), aRecordedEvent()];
    await world.record(a, b);
    await merge(b.contact_id, a.contact_id, 2);
    await eventually(async () => expect(await pointsOf(b.contact_id)).toBe(2 * (10 + MARKERS)));
    const { organizationId } = world;
    const data = aContactChange(a.contact_id, 4);
    await probe.publish({ type: 'core.contact.updated.v1', organizationId, data });
    await world.record(aRecordedEvent({ contact_id: a.contact_id }));
    expect(await pointsOf(a.contact_id)).toBe(20 + 2 * MARKERS);
    expect(await pointsOf(b.contact_id)).toBe(10 + MARKERS);
    await undo(b.contact_id, a.contact_id, 3);
    await world.record(aRecordedEvent({ contact_id: b.contact_id, event: 'nothing' }));
    expect(await pointsOf(a.contact_id)).toBe(20 + 2 * MARKERS);
    expect(probe.events('loyalty.evaluation.failed.v1', organizationId)).toEqual([]);
  });
});
