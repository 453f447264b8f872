import { randomUUID } from 'node:crypto';
import { Database } from '@customer-platform/database';
import {
  DatabaseFault,
  type KafkaProbe,
  type TestApp,
  type TestDatabase,
  eventually,
  kafkaProbe,
} from '@customer-platform/testing';
import { ExpirySweep } from '../expiry/expiry.sweep.js';
import {
  type LookedUpContact,
  type LoyaltyWorld,
  aKey,
  aLoyaltyWorld,
  aRecordedEvent,
  entomb,
  startLoyalty,
} from '../loyalty.fixture.js';
import { SumsRebuild } from './sums-rebuild.js';
import { wrongFigures } from './figures.fixture.js';

let app: TestApp;
let database: TestDatabase;
let contacts: LookedUpContact[];
let probe: KafkaProbe;
let close: () => Promise<void>;
let world: LoyaltyWorld;
beforeAll(async () => {
  ({ app, database, contacts, close } = await startLoyalty());
  probe = kafkaProbe(app);
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
const rebuild = (organizationId?: string) => new SumsRebuild(app.app.get(Database)).run(organizationId);
const adjust = (contact_id: string, points: number, more: object = {}) =>
  world.post({ kind: 'adjust', contact_id, points, reason: 'x', ...more });
const whole = (organization_id: string) => ({ organization_id, balances: 0, lots: 0, earned: 0 });

/** All sums of the organization, as they are stored. */
const sums = () =>
  Promise.all(
    [
      'SELECT * FROM balances WHERE organization_id = $1 ORDER BY subject_ref',
      'SELECT * FROM lot_balances WHERE organization_id = $1 ORDER BY subject_ref, lot_id',
      'SELECT * FROM earned_points WHERE organization_id = $1 ORDER BY rule_id, subject_ref',
    ].map((sql) => database.query(sql, [world.organizationId])),
  );

/** A ledger with rows of every kind, a debt, an expired lot, and what an erasure leaves. */
async function aHistory(): Promise<string> {
  const [contact_id, erased] = [aContact(), aContact()];
  await world.rule({ formula: { type: 'fixed', points: 15 } });
  await world.record(aRecordedEvent({ contact_id }), aRecordedEvent({ contact_id: erased }));
  const credit = await adjust(contact_id, 40, { expires_at: '2090-01-01T00:00:00.000Z' });
  await world.post({ kind: 'spend', contact_id, points: 50 });
  await world.post({ kind: 'reverse', reverses_id: credit.id, reason: 'x' });
  await adjust(erased, 9, { expires_at: new Date(Date.now() + 1_000).toISOString() });
  await eventually(async () => {
    await app.app.get(ExpirySweep).sweep();
    expect(await world.transactions('kind=expire')).toHaveLength(1);
  });
  await entomb(database, world.organizationId, erased);
  return contact_id;
}

describe('balances and lots made anew from the ledger', () => {
  it('are those that are stored, whatever was posted', async () => {
    await aHistory();
    const before = await sums();
    expect(await rebuild(world.organizationId)).toEqual([whole(world.organizationId)]);
    expect(await sums()).toEqual(before);
  });

  it('are counted once, also where the transaction loses to another and begins anew', async () => {
    const contactId = aContact();
    await adjust(contactId, 40);
    const own = [world.organizationId];
    await database.query('DELETE FROM balances WHERE organization_id = $1', own);
    await database.query('DELETE FROM lot_balances WHERE organization_id = $1', own);
    const deadlock = await DatabaseFault.in(database, {
      table: 'lot_balances',
      on: 'INSERT',
      when: `NEW.organization_id = '${world.organizationId}'`,
      code: '40P01',
      times: 1,
    });
    try {
      const rebuilt = { organization_id: world.organizationId, balances: 1, lots: 1, earned: 0 };
      expect(await rebuild(world.organizationId)).toEqual([rebuilt]);
      expect(await deadlock.tries()).toBe(2);
    } finally {
      await deadlock.mend();
    }
  });

  it('come back where they are lost, wrong, or of nothing', async () => {
    const contactId = await aHistory();
    const before = await sums();
    const balance = await world.balance(contactId);
    const own = [world.organizationId];
    await database.query('DELETE FROM balances WHERE organization_id = $1', own);
    await database.query(
      `DELETE FROM lot_balances WHERE organization_id = $1 AND lot_id IN (
         SELECT lot_id FROM lot_balances WHERE organization_id = $1 ORDER BY lot_id LIMIT 2)`,
      own,
    );
    await database.query(
      'UPDATE lot_balances SET remaining = remaining + 7, expires_at = now() WHERE organization_id = $1',
      own,
    );
    await database.query(
      `INSERT INTO lot_balances SELECT organization_id, subject_ref, gen_random_uuid(), 99, NULL, now()
         FROM lot_balances WHERE organization_id = $1 LIMIT 1`,
      own,
    );
    await database.query(
      `UPDATE earned_points SET points = points + 7
        WHERE organization_id = $1 AND subject_ref IN (SELECT subject_ref FROM subjects WHERE contact_id = $2)`,
      [...own, contactId],
    );
    const all = await rebuild();
    const lots = (before[1]?.length ?? 0) + 1;
    const corrected = all.find(({ organization_id: id }) => id === world.organizationId);
    // Of the rule and of the one that marks the last event.
    expect(corrected).toMatchObject({ lots, earned: 2 });
    expect(corrected?.balances).toBeGreaterThan(0);
    expect(await sums()).toEqual(before);
    expect(await world.balance(contactId)).toMatchObject({
      points: balance.points,
      available: balance.available,
    });
    expect(await rebuild(world.organizationId)).toEqual([whole(world.organizationId)]);
  });

  it('are right while points are posted meanwhile', async () => {
    const people = Array.from({ length: 8 }, aContact);
    await Promise.all(people.map((id) => adjust(id, 1_000)));
    let left = 240;
    const post = async (): Promise<void> => {
      for (; left > 0;) {
        left -= 1;
        const [contact_id, points] = [people[left % people.length], 1 + (left % 7)];
        const body =
          left % 3 === 0
            ? { kind: 'spend', contact_id, points }
            : { kind: 'adjust', contact_id, points, reason: 'x' };
        await world.caller.post('/v1/loyalty/transactions', body, aKey());
      }
    };
    const rebuilding = async (): Promise<void> => {
      for (; left > 0;) expect(await rebuild(world.organizationId)).toEqual([whole(world.organizationId)]);
    };
    await Promise.all([rebuilding(), ...Array.from({ length: 8 }, post)]);
    expect(await wrongFigures(database, world.organizationId)).toEqual([]);
    const [row] = await database.query<{ count: number }>(
      'SELECT count(*)::int AS count FROM transactions WHERE organization_id = $1',
      [world.organizationId],
    );
    expect(row?.count).toBe(people.length + 240);
  });
});
