import { randomUUID } from 'node:crypto';
import { jest } from '@jest/globals';
import { Tenants } from '@customer-platform/authorization';
import { Clock, Database } from '@customer-platform/database';
import { metrics } from '@customer-platform/http';
import {
  type KafkaProbe,
  type TestApp,
  type TestDatabase,
  DatabaseFault,
  eventually,
  kafkaProbe,
} from '@customer-platform/testing';
import {
  type LookedUpContact,
  type LoyaltyWorld,
  aLoyaltyWorld,
  endLot,
  entomb,
  startLoyalty,
} from '../loyalty.fixture.js';
import { ExpirySweep } from './expiry.sweep.js';
import { LotExpiry } from './lot-expiry.service.js';

let app: TestApp;
let database: TestDatabase;
let contacts: LookedUpContact[];
let probe: KafkaProbe;
let close: () => Promise<void>;
let world: LoyaltyWorld;
beforeAll(async () => {
  ({ app, database, contacts, close } = await startLoyalty());
  probe = kafkaProbe(app);
  probe.collect('loyalty');
});
afterAll(() => close());
beforeEach(() => {
  world = aLoyaltyWorld(app, probe);
});

const aContact = (): string => {
  const id = randomUUID();
  contacts.push({ id, state: 'active', merged_into: null, version: 1 });
  return id;
};
const LATER = '2090-01-01T00:00:00.000Z';
const aLot = (contact_id: string, points: number) =>
  world.post({ kind: 'adjust', contact_id, points, reason: 'x', expires_at: LATER });
/** The sweep as another instance would run it. */
const anotherSweep = () =>
  new ExpirySweep(app.app.get(Database), app.app.get(LotExpiry), app.app.get(Clock), app.app.get(Tenants));
describe('a lot whose end has come', () => {
  it('is left out of `available` at once, and expires by itself, dated at its end', async () => {
    const contact_id = aContact();
    const at = '2026-01-01T10:00:00.000Z';
    await world.post({ kind: 'adjust', contact_id, points: 5, reason: 'x' });
    const lot = await aLot(contact_id, 20);
    await world.post({ kind: 'spend', contact_id, points: 8 });
    expect(await world.balance(contact_id)).toMatchObject({
      available: 17,
      expiring: [{ lot_id: lot.id, points: 12, expires_at: LATER }],
    });
    await endLot(database, lot, at);
    expect(await world.balance(contact_id)).toMatchObject({ available: 5, expiring: [] });
    // Nobody calls the sweep here: the service does, by its timer.
    const [row] = await eventually(
      async () => {
        const rows = await world.transactions(`contact_id=${contact_id}&kind=expire`);
        expect(rows).toHaveLength(1);
        return rows;
      },
      { within: 60_000 },
    );
    expect(row).toMatchObject({
      points: -12,
      lines: [{ lot_id: lot.id, points: -12 }],
      occurred_at: at,
      actor: { type: 'system', id: 'loyalty' },
      contact_id,
      expires_at: null,
    });
    expect(await world.balance(contact_id)).toMatchObject({ points: 5, available: 5, expiring: [] });
    const [told] = await probe.expectEvents('loyalty.points.expired.v1', world.organizationId, 1);
    expect(told).toMatchObject({
      correlationid: row?.correlation_id,
      data: { transaction_id: row?.id, contact_id, points: -12, available: 5, rule_id: null, event_id: null },
    });
  });

  it('expires once, on any number of instances that sweep at once', async () => {
    const people = Array.from({ length: 40 }, aContact);
    await Promise.all(people.flatMap((id) => [aLot(id, 3), aLot(id, 4)]));
    await database.query(
      "UPDATE lot_balances SET expires_at = now() - interval '1 second' WHERE organization_id = $1",
      [world.organizationId],
    );
    await eventually(async () => {
      await Promise.all(Array.from({ length: 5 }, () => anotherSweep().sweep()));
      const due = 'SELECT FROM lot_balances WHERE organization_id = $1 AND remaining > 0';
      expect(await database.query(due, [world.organizationId])).toEqual([]);
    });
    const sums = await database.query(
      `SELECT count(*)::int AS count, sum(points)::int AS points FROM transactions
        WHERE organization_id = $1 AND kind = 'expire'`,
      [world.organizationId],
    );
    expect(sums).toEqual([{ count: 80, points: -280 }]);
  });

  it('of an erased contact expires, too, without telling whose it was', async () => {
    const contact_id = aContact();
    const lot = await aLot(contact_id, 9);
    await entomb(database, world.organizationId, contact_id);
    await endLot(database, lot);
    const [row] = await eventually(async () => {
      await anotherSweep().sweep();
      const rows = await world.transactions('kind=expire');
      expect(rows).toHaveLength(1);
      return rows;
    });
    expect(row).toMatchObject({
      points: -9,
      lines: [{ lot_id: lot.id, points: -9 }],
      contact_id: null,
      occurred_at: null,
      correlation_id: null,
      tombstoned_at: expect.any(String),
    });
    expect(probe.events('loyalty.points.expired.v1', world.organizationId)).toEqual([]);
  });

  it.each([
    ['is refused', 'P0001'],
    ['meets a lock that others hold', '55P03'],
  ])('is set aside where it %s, and holds back neither its own organization nor another', async (_, code) => {
    const other = aLoyaltyWorld(app, probe);
    const ending = { kind: 'adjust', points: 1, reason: 'x', expires_at: LATER };
    const bodyOf = () => ({ ...ending, contact_id: aContact() });
    const failing = await world.post(bodyOf());
    const [own, others] = [await world.post(bodyOf()), await other.post(bodyOf())];
    const fault = await DatabaseFault.in(database, {
      table: 'transactions',
      on: 'INSERT',
      when: `NEW.expired_lot_id = '${failing.id}'`,
      code,
    });
    await endLot(database, failing, '2026-01-01T00:00:00.000Z');
    await endLot(database, own);
    await endLot(database, others);
    await eventually(async () => {
      await anotherSweep().sweep();
      expect(await world.transactions('kind=expire')).toMatchObject([{ lines: [{ lot_id: own.id }] }]);
      expect(await other.transactions('kind=expire')).toHaveLength(1);
    });
    const told = metrics.getSingleMetricAsString('job_failures_total');
    expect(await told).toMatch(/job_name="lot-expiry"\} [1-9]/);
    await fault.mend();
    await eventually(async () => {
      await anotherSweep().sweep();
      expect(await world.transactions('kind=expire')).toHaveLength(2);
    });
  });

  it('waits for no other organization’s that fail, one after the other, each perhaps at its time limit', async () => {
    const own = app.app.get(ExpirySweep);
    await own.sweep();
    const still = jest.spyOn(own, 'sweep').mockResolvedValue(0);
    // Organizations are read in the order of their ids.
    const [failing, other] = [world, aLoyaltyWorld(app, probe)].sort((a, b) =>
      a.organizationId < b.organizationId ? -1 : 1,
    );
    if (!failing || !other) throw new Error('there are two organizations');
    const lotOf = (of: LoyaltyWorld) =>
      of.post({ kind: 'adjust', points: 1, reason: 'x', expires_at: LATER, contact_id: aContact() });
    const lots = await Promise.all(Array.from({ length: 40 }, () => lotOf(failing)));
    const others = await lotOf(other);
    await database.query('CREATE SEQUENCE failed_before_others');
    const fault = await DatabaseFault.in(database, {
      table: 'transactions',
      on: 'INSERT',
      when: `NEW.organization_id = '${failing.organizationId}' AND NEW.kind = 'expire'`,
      instead: `
        IF EXISTS (SELECT FROM lot_balances WHERE lot_id = '${others.id}' AND remaining > 0) THEN
          PERFORM nextval('failed_before_others');
        END IF;
        RAISE EXCEPTION 'refused' USING ERRCODE = '57014';`,
    });
    const sweep = anotherSweep();
    try {
      for (const lot of [...lots, others]) await endLot(database, lot);
      expect(await sweep.sweep()).toBe(1);
      expect(await other.transactions('kind=expire')).toHaveLength(1);
      const [before] = await database.query<{ failures: number }>(
        'SELECT CASE WHEN is_called THEN last_value ELSE 0 END::int AS failures FROM failed_before_others',
      );
      expect(before).toEqual({ failures: 1 });
    } finally {
      await fault.mend();
      still.mockRestore();
    }
    await eventually(async () => {
      await sweep.sweep();
      expect(await failing.transactions('kind=expire')).toHaveLength(lots.length);
    });
  });
});
