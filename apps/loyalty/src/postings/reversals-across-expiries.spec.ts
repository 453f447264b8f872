import { randomUUID } from 'node:crypto';
import { Clock, Database } from '@customer-platform/database';
import {
  type KafkaProbe,
  type TestApp,
  type TestDatabase,
  eventually,
  expectProblem,
  kafkaProbe,
} from '@customer-platform/testing';
import { LotExpiry } from '../expiry/lot-expiry.service.js';
import { ExpirySweep } from '../expiry/expiry.sweep.js';
import { lockRefs } from '../ledger/subjects.js';
import type { TransactionDto } from '../ledger/transaction.dto.js';
import {
  type LookedUpContact,
  type LoyaltyWorld,
  aKey,
  aLoyaltyWorld,
  endLot,
  startLoyalty,
} from '../loyalty.fixture.js';

const PATH = '/v1/loyalty/transactions';
const LATER = '2090-01-01T00:00:00.000Z';

let app: TestApp;
let database: TestDatabase;
let contacts: LookedUpContact[];
let probe: KafkaProbe;
let close: () => Promise<void>;
let world: LoyaltyWorld;
let contact_id: string;
beforeAll(async () => {
  ({ app, database, contacts, close } = await startLoyalty());
  probe = kafkaProbe(app);
});
afterAll(() => close());
beforeEach(() => {
  world = aLoyaltyWorld(app, probe);
  contact_id = randomUUID();
  contacts.push({ id: contact_id, state: 'active', merged_into: null, version: 1 });
});

const adjust = (points: number, more: Record<string, unknown> = {}) =>
  world.post({ kind: 'adjust', contact_id, points, reason: 'Goodwill', ...more });
const aLot = (points: number) => adjust(points, { expires_at: LATER });
const spend = (points: number) => world.post({ kind: 'spend', contact_id, points });
const bodyOf = ({ id }: { id: string }) => ({ kind: 'reverse', reverses_id: id, reason: 'By mistake' });
const reverse = (transaction: { id: string }) => world.post(bodyOf(transaction));
const linesOf = ({ lines }: TransactionDto) =>
  Object.fromEntries(lines.map(({ lot_id: lot, points }) => [lot, points]));
const swept = (lot: { id: string }) =>
  eventually(async () => {
    await app.app.get(ExpirySweep).sweep();
    const sql = 'SELECT FROM lot_balances WHERE lot_id = $1 AND remaining > 0';
    expect(await database.query(sql, [lot.id])).toEqual([]);
  });
const remainingOf = async ({ id }: { id: string }) =>
  (await database.query('SELECT remaining::int FROM lot_balances WHERE lot_id = $1', [id]))[0];

describe('a debit reversed while its lot ends', () => {
  it('goes by the time after the wait for the locks: the ended lot stays ended', async () => {
    const lot = await aLot(100);
    const debit = await spend(60);
    const { organizationId } = world;
    const subjectRefs = (
      await database.query<{ subject_ref: string }>(
        'SELECT subject_ref FROM subjects WHERE organization_id = $1',
        [organizationId],
      )
    ).map(({ subject_ref: ref }) => ref);
    const [locked, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    // A sweep that has the locks, and by whose end the lot has ended.
    const sweeping = app.app.get(Database).inOrganization({ organizationId }, async (tx) => {
      await lockRefs(tx, subjectRefs);
      locked.resolve();
      await goOn.promise;
      await app.app.get(LotExpiry).expireDue(tx, { subjectRefs, lotIds: [lot.id] }, new Date());
    });
    await locked.promise;
    const reversing = reverse(debit);
    await eventually(async () =>
      expect(
        await database.query(
          "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
        ),
      ).not.toHaveLength(0),
    );
    await endLot(database, lot, app.app.get(Clock).now().toISOString());
    goOn.resolve();
    await sweeping;
    const answer = await reversing;
    expect(linesOf(answer)).toEqual({ [answer.id]: 60 });
    expect(await remainingOf(lot)).toEqual({ remaining: 0 });
    expect(await world.balance(contact_id)).toMatchObject({ points: 60, available: 60 });
  });

  it('finds a lot ended that has expired, whatever its own clock says', async () => {
    const lot = await aLot(100);
    const debit = await spend(60);
    await endLot(database, lot);
    await swept(lot);
    // Another instance's clock is ahead: here the end has not come.
    await endLot(database, lot, LATER);
    const answer = await reverse(debit);
    expect(linesOf(answer)).toEqual({ [answer.id]: 60 });
    await endLot(database, lot);
    expect(await app.app.get(ExpirySweep).sweep()).toBe(0);
    expect(await world.balance(contact_id)).toMatchObject({ points: 60, available: 60 });
  });
});

describe('a debit reversed after the credit that it took from', () => {
  it('fills what it gives back itself first, and opens a lot with the points of the lot that has ended', async () => {
    const ending = await aLot(50);
    const credit = await adjust(110);
    const debit = await spend(110);
    expect(linesOf(debit)).toEqual({ [ending.id]: -50, [credit.id]: -60 });
    await reverse(credit);
    await endLot(database, ending);
    const answer = await reverse(debit);
    expect(linesOf(answer)).toEqual({ [credit.id]: 60, [answer.id]: 50 });
    expect(answer.expires_at).not.toBeNull();
    expect(await remainingOf(credit)).toEqual({ remaining: 0 });
  });
});

describe('a credit whose points came back after its end', () => {
  /** Of 100 points 40 have expired with their lot and 60 have come back into another. */
  const cameBack = async () => {
    const credit = await aLot(100);
    const debit = await spend(60);
    await endLot(database, credit);
    await swept(credit);
    return { credit, back: await reverse(debit) };
  };

  it.each(['swept', 'due'])('409 not_reversible once these have expired, too (%s)', async (how) => {
    const { credit, back } = await cameBack();
    expect(linesOf(back)).toEqual({ [back.id]: 60 });
    await endLot(database, back);
    if (how === 'swept') await swept(back);
    const answer = await world.caller.post(PATH, bodyOf(credit), aKey());
    expectProblem(answer, 409, 'not_reversible');
    await swept(back);
    expect(await world.balance(contact_id)).toMatchObject({ points: 0, available: 0 });
  });

  it('is reversed less what expired of them', async () => {
    const { credit, back } = await cameBack();
    await spend(20);
    await endLot(database, back);
    expect((await reverse(credit)).points).toBe(-20);
    expect(await world.balance(contact_id)).toMatchObject({ points: -20, available: -20 });
  });

  it('shares what expired with the other credits of the same lot: it counts once', async () => {
    const credits = [await aLot(30), await aLot(50)];
    const debit = await spend(80);
    for (const credit of credits) await endLot(database, credit);
    const back = await reverse(debit);
    expect(linesOf(back)).toEqual({ [back.id]: 80 });
    await spend(45);
    await endLot(database, back);
    const reversals = [
      await reverse(credits[0] as TransactionDto),
      await reverse(credits[1] as TransactionDto),
    ];
    // 35 of the 80 expired: what was used of both is taken back, and no more.
    expect(reversals.map(({ points }) => points).reduce((sum, each) => sum + each)).toBe(-45);
    expect(await world.balance(contact_id)).toMatchObject({ points: -45, available: -45 });
  });

  it('knows what came back a second time', async () => {
    const { credit, back } = await cameBack();
    const debit = await spend(50);
    await endLot(database, back);
    const again = await reverse(debit);
    expect(linesOf(again)).toEqual({ [again.id]: 50 });
    await endLot(database, again);
    await swept(again);
    const answer = await world.caller.post(PATH, bodyOf(credit), aKey());
    expectProblem(answer, 409, 'not_reversible');
  });
});
