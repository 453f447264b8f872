import { randomUUID } from 'node:crypto';
import { Clock, Database, WriteConflict, type Transaction } from '@customer-platform/database';
import type { ErasureRequested } from '@customer-platform/erasure';
import {
  type KafkaProbe,
  type TestApp,
  type TestDatabase,
  eventually,
  kafkaProbe,
} from '@customer-platform/testing';
import { LoyaltyContactRefs } from '../contacts/loyalty-contact-refs.js';
import {
  type LoyaltyWorld,
  aContactChange,
  aLoyaltyWorld,
  aRecordedEvent,
  MARKERS,
  startLoyalty,
} from '../loyalty.fixture.js';
import { eraseSubjects } from './erase-subjects.js';
import { lockSubjects } from './subjects.js';

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

/** Has the contact erased and answers what loyalty said when it was done. */
async function erase(contactId: string, contactIds?: string[]) {
  const { organizationId } = world;
  const data = {
    subject_request_id: randomUUID(),
    contact_id: contactId,
    ...(contactIds && { contact_ids: contactIds }),
  };
  const [request] = await probe.publish({ type: 'core.erasure.requested.v1', organizationId, data });
  const completed = await eventually(() => {
    const told = probe
      .events('loyalty.erasure.completed.v1', organizationId)
      .filter((each) => each.data.subject_request_id === data.subject_request_id);
    expect(told).not.toHaveLength(0);
    return told;
  });
  return { request: request as ErasureRequested, completed };
}

const textOf = async (tables: readonly string[]): Promise<string> => {
  const rows = await Promise.all(
    tables.map((table) =>
      database.query(`SELECT json_agg(t)::text AS rows FROM ${table} t WHERE organization_id = $1`, [
        world.organizationId,
      ]),
    ),
  );
  return JSON.stringify(rows);
};

const LEDGER = ['transactions', 'lines'];
const EVERYTHING = [...LEDGER, 'tombstones', 'subjects', 'links', 'balances', 'lot_balances', 'contact_refs'];

describe('the erasure of a contact', () => {
  it('leaves every row of the ledger as it is, without whose it was', async () => {
    await world.rule({ formula: { type: 'fixed', points: 10 } });
    const [event, other] = [aRecordedEvent(), aRecordedEvent()];
    await world.record(event, other);
    const before = await textOf(LEDGER);
    const { completed } = await erase(event.contact_id);
    expect(completed[0]?.data.counts).toEqual({ transactions: 2 });
    expect(await textOf(LEDGER)).toBe(before);
    const everything = await textOf(EVERYTHING);
    for (const value of [event.contact_id, event.event_id]) expect(everything).not.toContain(value);
    const rows = await world.transactions('limit=200');
    expect(rows).toHaveLength(4);
    const anonymous = rows.filter(({ tombstoned_at: at }) => at !== null);
    expect(anonymous).toHaveLength(2);
    for (const row of anonymous) {
      expect(row).toMatchObject({
        contact_id: null,
        event_id: null,
        correlation_id: null,
        occurred_at: null,
        reason: null,
        reference: null,
      });
    }
    const sum = rows.reduce((points, row) => points + row.points, 0);
    expect(sum).toBe(2 * (10 + MARKERS));
    expect(
      await database.query(
        'SELECT transactions::int, points::int FROM tombstones WHERE organization_id = $1',
        [world.organizationId],
      ),
    ).toEqual([{ transactions: 2, points: 10 + MARKERS }]);
    expect(await world.transactions(`contact_id=${other.contact_id}`)).toHaveLength(2);
  });

  it('takes the points of contacts merged into it along, and forgets these, too', async () => {
    await world.rule({ formula: { type: 'fixed', points: 10 } });
    const [survivor, merged] = [aRecordedEvent(), aRecordedEvent()];
    await world.record(survivor, merged);
    await probe.publish({
      type: 'core.contact.merged.v1',
      organizationId: world.organizationId,
      data: {
        merge_id: randomUUID(),
        survivor_id: survivor.contact_id,
        merged_id: merged.contact_id,
        survivor_version: 2,
        merged_version: 2,
      },
    });
    await eventually(async () =>
      expect((await world.balance(survivor.contact_id)).points).toBe(2 * (10 + MARKERS)),
    );
    const { completed } = await erase(survivor.contact_id);
    expect(completed[0]?.data.counts).toEqual({ transactions: 4 });
    const everything = await textOf(EVERYTHING);
    for (const { contact_id: id } of [survivor, merged]) expect(everything).not.toContain(id);
  });

  it('buries a row that took from the lots of a merged contact alone, and counts it once', async () => {
    await world.rule({ formula: { type: 'fixed', points: 10 } });
    const merged = aRecordedEvent();
    await world.record(merged);
    const survivor = randomUUID();
    const { organizationId } = world;
    await probe.publish({
      type: 'core.contact.created.v1',
      organizationId,
      data: aContactChange(survivor, 1),
    });
    await probe.publish({
      type: 'core.contact.merged.v1',
      organizationId,
      data: {
        merge_id: randomUUID(),
        survivor_id: survivor,
        merged_id: merged.contact_id,
        survivor_version: 2,
        merged_version: 2,
      },
    });
    await eventually(async () => expect((await world.balance(survivor)).points).toBe(10 + MARKERS));
    const alone = await world.post({ kind: 'spend', contact_id: survivor, points: 10 });
    expect(alone.lines).not.toHaveLength(0);
    // Takes from a lot of each of the two.
    await world.post({ kind: 'adjust', contact_id: survivor, points: 5, reason: 'x' });
    const both = await world.post({ kind: 'spend', contact_id: survivor, points: 5 });
    expect(both.lines).toHaveLength(2);
    const { completed } = await erase(survivor);
    expect(completed[0]?.data.counts).toEqual({ transactions: 5 });
    const rows = await world.transactions('limit=200');
    expect(rows).toHaveLength(5);
    for (const row of rows)
      expect(row).toMatchObject({ contact_id: null, tombstoned_at: expect.any(String) });
    const [sums] = await database.query(
      'SELECT sum(transactions)::int AS transactions, sum(points)::int AS points FROM tombstones WHERE organization_id = $1',
      [organizationId],
    );
    expect(sums).toEqual({ transactions: 5, points: MARKERS });
  });

  it('takes more rows than one statement does, each once', async () => {
    const event = aRecordedEvent({ event: 'nothing' });
    await world.record(event);
    await database.query(
      `WITH given AS MATERIALIZED (
         SELECT organization_id, subject_ref, gen_random_uuid() AS id, now() - n % 3 * interval '1 s' AS at
           FROM subjects, generate_series(1, 20001) AS n WHERE contact_id = $1),
       posted AS (
         INSERT INTO transactions (organization_id, id, kind, points, subject_ref, actor_type, actor_id, created_at)
         SELECT organization_id, id, 'adjust', 1, subject_ref, 'user', 'x', at FROM given),
       linked AS (
         INSERT INTO links (organization_id, transaction_id, subject_ref, correlation_id, occurred_at)
         SELECT organization_id, id, subject_ref, id, at FROM given),
       lined AS (INSERT INTO lines SELECT organization_id, id, id, 1, subject_ref FROM given),
       lots AS (
         INSERT INTO lot_balances SELECT organization_id, subject_ref, id, 1, NULL, at FROM given)
       UPDATE balances SET points = points + 20001
        WHERE (organization_id, subject_ref) IN (SELECT organization_id, subject_ref FROM given LIMIT 1)`,
      [event.contact_id],
    );
    const { completed } = await erase(event.contact_id);
    expect(completed[0]?.data.counts).toEqual({ transactions: 20_001 + MARKERS });
    const [left] = await database.query(
      `SELECT (SELECT count(*)::int FROM links WHERE organization_id = $1) AS links,
              (SELECT count(*)::int FROM tombstone_rows WHERE organization_id = $1) AS listed`,
      [world.organizationId],
    );
    expect(left).toEqual({ links: 0, listed: 20_001 + MARKERS });
  });

  it('nothing is earned after it, whatever is told of the contact, and what it earned stays once', async () => {
    await world.rule({ formula: { type: 'fixed', points: 10 } });
    const event = aRecordedEvent();
    await world.record(event);
    await erase(event.contact_id);
    const before = await textOf(EVERYTHING);
    const { organizationId } = world;
    await probe.publish({
      type: 'core.contact.updated.v1',
      organizationId,
      data: aContactChange(event.contact_id, 9),
    });
    await probe.publish(
      ...[event, aRecordedEvent({ contact_id: event.contact_id })].map((data) => ({
        type: 'core.event.recorded.v1' as const,
        organizationId,
        data,
      })),
    );
    // The same contact's next request comes after all of it.
    const { completed } = await erase(event.contact_id);
    expect(completed[0]?.data.counts).toEqual({ transactions: 0 });
    expect(await textOf(EVERYTHING)).toBe(before);
  });

  it('asked for again takes the name of what the release before left under the contact', async () => {
    await world.rule({ formula: { type: 'fixed', points: 10 } });
    const [event, other] = [aRecordedEvent(), aRecordedEvent()];
    const { organizationId } = world;
    const { request } = await erase(event.contact_id, [event.contact_id]);
    await world.record(other);
    await database.query(
      'UPDATE subjects SET contact_id = $2, origin_contact_id = $2 WHERE organization_id = $1',
      [organizationId, event.contact_id],
    );
    await probe.publish({ type: request.type, organizationId, data: request.data });
    await eventually(() => {
      const told = probe.events('loyalty.erasure.completed.v1', organizationId);
      expect(told).toHaveLength(2);
      expect(told[0]?.data).toEqual(told[1]?.data);
    });
    expect(await textOf(EVERYTHING)).not.toContain(event.contact_id);
    expect(await anonymous()).toBe(2);
  });

  it('asked for again, answers with the same receipt', async () => {
    await world.rule({ formula: { type: 'fixed', points: 10 } });
    const event = aRecordedEvent();
    await world.record(event);
    const { request } = await erase(event.contact_id);
    await probe.publish({
      type: request.type,
      organizationId: world.organizationId,
      data: request.data,
    });
    await eventually(() => {
      const told = probe.events('loyalty.erasure.completed.v1', world.organizationId);
      expect(told).toHaveLength(2);
      expect(told[0]?.data).toEqual(told[1]?.data);
    });
  });
});

/** Core's news of merges and of their undoing, in the order in which loyalty hears it. */
async function hears(
  type: 'core.contact.merged.v1' | 'core.contact.unmerged.v1',
  survivor: string,
  merged: string,
  version: number,
): Promise<void> {
  const versions = { survivor_version: version, merged_version: version };
  const data = { merge_id: randomUUID(), survivor_id: survivor, merged_id: merged, ...versions };
  await probe.publish({ type, organizationId: world.organizationId, data });
}

/** Rows of which nobody is the owner any more. */
const anonymous = async (): Promise<number> => (await world.transactions('limit=200&tombstoned=true')).length;

describe('an erasure heard of before', () => {
  beforeEach(() => world.rule({ formula: { type: 'fixed', points: 10 } }));

  it('the undo that parted its contact from another takes the points that the other still has', async () => {
    const [survivor, merged] = [aRecordedEvent(), aRecordedEvent()];
    await world.record(survivor, merged);
    await hears('core.contact.merged.v1', survivor.contact_id, merged.contact_id, 2);
    await eventually(async () =>
      expect((await world.balance(survivor.contact_id)).points).toBe(2 * (10 + MARKERS)),
    );
    const { completed } = await erase(merged.contact_id, [merged.contact_id]);
    expect(completed[0]?.data.counts).toEqual({ transactions: 2 });
    await hears('core.contact.unmerged.v1', survivor.contact_id, merged.contact_id, 3);
    await world.record(aRecordedEvent({ contact_id: survivor.contact_id, event: 'nothing' }));
    expect(await anonymous()).toBe(2);
    expect((await world.balance(survivor.contact_id)).points).toBe(10 + 2 * MARKERS);
    expect(await textOf(EVERYTHING)).not.toContain(merged.contact_id);
  });

  it.each(['named', 'not named'])('a merge takes the points of who was merged, %s', async (how) => {
    const [survivor, between, merged] = [aRecordedEvent(), aRecordedEvent(), aRecordedEvent()];
    await world.record(survivor, between, merged);
    await hears('core.contact.merged.v1', survivor.contact_id, between.contact_id, 3);
    const ids = [survivor, between, merged].map(({ contact_id: id }) => id);
    const { completed } = await erase(survivor.contact_id, how === 'named' ? ids : undefined);
    expect(completed[0]?.data.counts).toEqual({ transactions: how === 'named' ? 6 : 4 });
    await hears('core.contact.merged.v1', between.contact_id, merged.contact_id, 2);
    const end = { contact_id: merged.contact_id, version: 9, changed_fields: [], contact: null };
    const { organizationId } = world;
    await probe.publish({ type: 'core.contact.erased.v1', organizationId, data: end });
    await eventually(async () => {
      expect(await anonymous()).toBe(6);
      const everything = await textOf(EVERYTHING);
      for (const id of ids) expect(everything).not.toContain(id);
    });
  });

  it.each(['named', 'not named'])('after the end of who was merged counts their rows, %s', async (how) => {
    const [survivor, merged] = [aRecordedEvent(), aRecordedEvent()];
    await world.record(survivor, merged);
    await hears('core.contact.merged.v1', survivor.contact_id, merged.contact_id, 2);
    await eventually(async () =>
      expect((await world.balance(survivor.contact_id)).points).toBe(2 * (10 + MARKERS)),
    );
    const { organizationId } = world;
    const end = { contact_id: merged.contact_id, version: 3, changed_fields: [], contact: null };
    await probe.publish({ type: 'core.contact.erased.v1', organizationId, data: end });
    await eventually(async () => expect(await textOf(['contact_refs'])).not.toContain(merged.contact_id));
    const ids = [survivor, merged].map(({ contact_id: id }) => id);
    const { completed } = await erase(survivor.contact_id, how === 'named' ? ids : undefined);
    expect(completed[0]?.data.counts).toEqual({ transactions: 4 });
  });

  it('gives back their points to whom an undo has parted, which was parked and goes', async () => {
    const [erased, parted] = [aRecordedEvent(), aRecordedEvent()];
    await world.record(erased, parted);
    await hears('core.contact.merged.v1', erased.contact_id, parted.contact_id, 2);
    await eventually(async () =>
      expect((await world.balance(erased.contact_id)).points).toBe(2 * (10 + MARKERS)),
    );
    const { completed } = await erase(erased.contact_id, [erased.contact_id]);
    expect(completed[0]?.data.counts).toEqual({ transactions: 2 });
    expect((await world.balance(parted.contact_id)).points).toBe(10 + MARKERS);
    const [own] = await database.query('SELECT contact_id FROM subjects WHERE origin_contact_id = $1', [
      parted.contact_id,
    ]);
    expect(own).toEqual({ contact_id: parted.contact_id });
  });

  it('the undo of an inner merge leaves the points of whom core does not name', async () => {
    const [survivor, between, parted] = [aRecordedEvent(), aRecordedEvent(), aRecordedEvent()];
    await world.record(survivor, between, parted);
    await hears('core.contact.merged.v1', between.contact_id, parted.contact_id, 2);
    await hears('core.contact.merged.v1', survivor.contact_id, between.contact_id, 4);
    const { completed } = await erase(survivor.contact_id, [survivor.contact_id, between.contact_id]);
    expect(completed[0]?.data.counts).toEqual({ transactions: 4 });
    await hears('core.contact.unmerged.v1', between.contact_id, parted.contact_id, 3);
    await world.record(aRecordedEvent({ contact_id: parted.contact_id, event: 'nothing' }));
    expect((await world.balance(parted.contact_id)).points).toBe(10 + 2 * MARKERS);
  });
});

describe('points written while their contact is erased', () => {
  const inOrganization = <T>(work: (tx: Transaction) => Promise<T>): Promise<T> =>
    app.app.get(Database).inOrganization({ organizationId: world.organizationId }, work);
  const eraseDirectly = (contactId: string) =>
    inOrganization(async (tx) => {
      await app.app.get(LoyaltyContactRefs).erase(tx, [contactId]);
      return eraseSubjects(tx, [contactId], app.app.get(Clock));
    });

  it.each(['first', 'second'])('are refused or go with it when the writer comes %s', async (place) => {
    const refs = app.app.get(LoyaltyContactRefs);
    const contactId = randomUUID();
    const locked = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const write = (waits: boolean) =>
      inOrganization(async (tx) => {
        await lockSubjects(tx, [contactId]);
        await refs.demandNotErased(tx, [contactId]);
        locked.resolve();
        if (waits) await goOn.promise;
      });
    if (place === 'first') {
      const writing = write(true);
      await locked.promise;
      const erasing = eraseDirectly(contactId);
      goOn.resolve();
      await Promise.all([writing, erasing]);
    } else {
      await eraseDirectly(contactId);
      await expect(write(false)).rejects.toThrow(WriteConflict);
    }
    expect(await textOf(['subjects', 'balances'])).not.toContain(contactId);
  });
});
