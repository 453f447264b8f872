import { randomUUID } from 'node:crypto';
import { Database } from '@customer-platform/database';
import {
  type KafkaProbe,
  type TestApp,
  type TestDatabase,
  eventually,
  expectProblem,
  expectStatus,
  kafkaProbe,
} from '@customer-platform/testing';
import { ExpirySweep } from '../expiry/expiry.sweep.js';
import { lockSubjects } from '../ledger/subjects.js';
import type { TransactionDto } from '../ledger/transaction.dto.js';
import {
  type LookedUpContact,
  type LoyaltyWorld,
  aKey,
  aLoyaltyWorld,
  aRecordedEvent,
  endLot,
  entomb,
  startLoyalty,
} from '../loyalty.fixture.js';

const PATH = '/v1/loyalty/transactions';
const DAY_MS = 86_400_000;

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
  probe.collect('loyalty');
});
afterAll(() => close());
beforeEach(() => {
  world = aLoyaltyWorld(app, probe);
  contact_id = aContact();
});

const aContact = (): string => {
  const id = randomUUID();
  contacts.push({ id, state: 'active', merged_into: null, version: 1 });
  return id;
};
const adjust = (points: number, more: Record<string, unknown> = {}) =>
  world.post({ kind: 'adjust', contact_id, points, reason: 'Goodwill', ...more });
const spend = (points: number) => world.post({ kind: 'spend', contact_id, points });
const bodyOf = ({ id }: { id: string }) => ({ kind: 'reverse', reverses_id: id, reason: 'By mistake' });
const reverse = (transaction: { id: string }) => world.post(bodyOf(transaction));
const points = async (): Promise<number> => (await world.balance(contact_id)).points;
/** A lot, some of it spent, whose end has come. */
const anEndedLot = async (given: number, spent = 0) => {
  const lot = await adjust(given, { expires_at: '2090-01-01T00:00:00.000Z' });
  const debit = spent > 0 ? await spend(spent) : undefined;
  await endLot(database, lot);
  return { lot, debit };
};
const swept = async (lot: { id: string }) => {
  await eventually(async () => {
    await app.app.get(ExpirySweep).sweep();
    const sql = 'SELECT FROM lot_balances WHERE lot_id = $1 AND remaining > 0';
    expect(await database.query(sql, [lot.id])).toEqual([]);
  });
};

describe('a reversed credit', () => {
  it('gives its points back from its own lot first', async () => {
    await adjust(10);
    const lot = await adjust(30);
    const answer = await reverse(lot);
    expect(answer).toMatchObject({
      kind: 'reverse',
      contact_id,
      points: -30,
      reverses_id: lot.id,
      reason: 'By mistake',
      lines: [{ lot_id: lot.id, points: -30 }],
    });
    expect(await points()).toBe(10);
    const [told] = await probe.expectEvents('loyalty.points.reversed.v1', world.organizationId, 1);
    expect(told?.data).toMatchObject({ transaction_id: answer.id, points: -30, available: 10 });
  });

  it('takes what was spent of it from other lots, and owes what is lacking until later credits fill it', async () => {
    const lot = await adjust(100);
    await spend(100);
    const other = await adjust(30);
    const answer = await reverse(lot);
    const lines = new Map(answer.lines.map((line) => [line.lot_id, line.points]));
    expect([lines.get(lot.id), lines.get(other.id)]).toEqual([-70, -30]);
    expect(await world.balance(contact_id)).toMatchObject({ points: -70, available: -70 });
    const problem = await world.caller.post(PATH, { kind: 'spend', contact_id, points: 1 }, aKey());
    expect(expectProblem(problem, 409, 'insufficient_points')).toMatchObject({
      available: -70,
      requested: 1,
    });
    const part = await adjust(50);
    expect(part.lines).toEqual([{ lot_id: lot.id, points: 50 }]);
    const rest = await adjust(50);
    expect(new Map(rest.lines.map((line) => [line.lot_id, line.points]))).toEqual(
      new Map([
        [lot.id, 20],
        [rest.id, 30],
      ]),
    );
    expect(await world.balance(contact_id)).toMatchObject({ points: 30, available: 30 });
  });

  it('is filled by what a rule earns, too', async () => {
    const lot = await adjust(10);
    await spend(10);
    await reverse(lot);
    await world.rule({ formula: { type: 'fixed', points: 25 } });
    const event = aRecordedEvent({ contact_id });
    await world.record(event);
    const [earned] = await world.transactions(`event_id=${event.event_id}`);
    expect(new Map(earned?.lines.map((line) => [line.lot_id, line.points]))).toEqual(
      new Map([
        [lot.id, 10],
        [earned?.id, 15],
      ]),
    );
  });

  it('is less what expired of it, whether or not a sweep has come by', async () => {
    const { lot } = await anEndedLot(100, 60);
    const other = await adjust(200);
    const before = await reverse(lot);
    expect(before).toMatchObject({ points: -60, lines: [{ lot_id: other.id, points: -60 }] });
    expect(await world.balance(contact_id)).toMatchObject({ points: 140, available: 140 });
    const second = await anEndedLot(100, 0);
    await swept(second.lot);
    const problem = await world.caller.post(PATH, bodyOf(second.lot), aKey());
    expectProblem(problem, 409, 'not_reversible');
    expect(await points()).toBe(140);
  });
});

describe('a reversed debit', () => {
  it('returns its points to their lots', async () => {
    const lots = [await adjust(10), await adjust(10)];
    const debit = await spend(15);
    const answer = await reverse(debit);
    expect(answer).toMatchObject({ points: 15, expires_at: null });
    expect(answer.lines.map((line) => line.points).sort()).toEqual([10, 5]);
    expect(answer.lines.map((line) => line.lot_id).sort()).toEqual(lots.map(({ id }) => id).sort());
    expect((await spend(20)).points).toBe(-20);
  });

  it('opens a lot of 30 days with those of lots that have ended', async () => {
    const endless = await adjust(5);
    const { lot, debit } = await anEndedLot(10, 10);
    const both = await spend(5);
    expect(both.lines).toEqual([{ lot_id: endless.id, points: -5 }]);
    const answer = await reverse(debit as TransactionDto);
    expect(answer.lines).toEqual([{ lot_id: answer.id, points: 10 }]);
    const days = (Date.parse(String(answer.expires_at)) - Date.parse(answer.created_at)) / DAY_MS;
    expect(days).toBe(30);
    expect((await world.balance(contact_id)).expiring).toEqual([
      { lot_id: answer.id, points: 10, expires_at: answer.expires_at },
    ]);
    // The ended lot stays as it was.
    const sql = 'SELECT remaining::int AS remaining FROM lot_balances WHERE lot_id = $1';
    expect(await database.query(sql, [lot.id])).toEqual([{ remaining: 0 }]);
  });
});

describe('POST /v1/loyalty/transactions of kind reverse', () => {
  it('409 the second time, naming the first; of 20 at once one is posted', async () => {
    const lot = await adjust(50);
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => world.caller.post<TransactionDto>(PATH, bodyOf(lot), aKey())),
    );
    const done = answers.filter(({ status }) => status === 201);
    expect(done).toHaveLength(1);
    for (const answer of answers.filter((each) => !done.includes(each))) {
      const problem = expectProblem(answer, 409, 'already_reversed');
      expect(problem['reversed_by']).toBe(done[0]?.body.id);
    }
    expect(await points()).toBe(0);
  });

  it('409 for a reversal and an expiry', async () => {
    const reversal = await reverse(await adjust(50));
    const { lot } = await anEndedLot(10);
    await swept(lot);
    const [expiry] = await world.transactions('kind=expire');
    for (const id of [reversal.id, String(expiry?.id)]) {
      expectProblem(await world.caller.post(PATH, bodyOf({ id }), aKey()), 409, 'not_reversible');
    }
  });

  it('reverses for whoever takes their ref back while it waits, after an undo that is yet to be heard of', async () => {
    const parted = aContact();
    const { organizationId } = world;
    const lot = await world.post({ kind: 'adjust', contact_id: parted, points: 50, reason: 'x' });
    await adjust(1);
    await database.query(
      'UPDATE subjects SET contact_id = $3 WHERE organization_id = $1 AND contact_id = $2',
      [organizationId, parted, contact_id],
    );
    const [taken, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const taking = app.app.get(Database).inOrganization({ organizationId }, async (tx) => {
      await lockSubjects(tx, [parted]);
      taken.resolve();
      await goOn.promise;
    });
    await taken.promise;
    const reversing = reverse(lot);
    await eventually(async () =>
      expect(
        await database.query(
          "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
        ),
      ).not.toHaveLength(0),
    );
    goOn.resolve();
    await taking;
    expect(await reversing).toMatchObject({ contact_id: parted, points: -50 });
    expect((await world.balance(parted)).points).toBe(0);
    expect(await points()).toBe(1);
  });

  it('409 for a row whose contact is a tombstone', async () => {
    const lot = await adjust(50);
    await entomb(database, world.organizationId, contact_id);
    expectProblem(await world.caller.post(PATH, bodyOf(lot), aKey()), 409, 'not_reversible');
    const { body } = await world.caller.get<TransactionDto>(`${PATH}/${lot.id}`);
    expect(body).toMatchObject({
      contact_id: null,
      event_id: null,
      correlation_id: null,
      occurred_at: null,
      reason: null,
      reference: null,
      points: 50,
      tombstoned_at: expect.any(String),
    });
  });

  it('422 for what is not there, and for what is another organization’s', async () => {
    const lot = await adjust(50);
    const stranger = aLoyaltyWorld(app, probe);
    const bodies = new Set<string>();
    for (const [caller, id] of [
      [world.caller, randomUUID()],
      [stranger.caller, lot.id],
    ] as const) {
      const answer = await caller.post(PATH, bodyOf({ id }), aKey());
      const { correlation_id: _, ...body } = expectProblem(answer, 422, 'reference_not_found');
      expect(body.errors?.[0]?.pointer).toBe('/reverses_id');
      bodies.add(JSON.stringify(body));
    }
    expect(bodies.size).toBe(1);
    expect(await points()).toBe(50);
  });

  it('lets what a rule earned go, net of a cap, and the rule earn it once more', async () => {
    await world.rule({
      formula: { type: 'fixed', points: 10 },
      max_per_contact: { points: 10, period: 'lifetime' },
    });
    const [first, second, third] = [1, 2, 3].map(() => aRecordedEvent({ contact_id }));
    await world.record(first as never, second as never);
    const [earned] = await world.transactions(
      `event_id=${first?.event_id},${second?.event_id}`.replace('=', '[in]='),
    );
    await reverse(earned as TransactionDto);
    await world.record(third as never);
    const net = await world.transactions(
      `contact_id=${contact_id}&kind[in]=earn,reverse&reference[is_null]=true`,
    );
    const ofRule = net.filter((row) => row.points === 10 || row.points === -10);
    expect(ofRule.map((row) => row.points).sort()).toEqual([-10, 10, 10]);
  });

  it('works on a contact that is soft-deleted', async () => {
    const lot = await adjust(50);
    contacts.push({ id: contact_id, state: 'deleted', merged_into: null, version: 2 });
    await database.query('UPDATE contact_refs SET state = $2 WHERE id = $1', [contact_id, 'deleted']);
    expectStatus(await world.caller.post(PATH, bodyOf(lot), aKey()), 201);
  });
});
