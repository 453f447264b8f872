import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { Database } from '@customer-platform/database';
import {
  type Answer,
  type KafkaProbe,
  type TestApp,
  type TestDatabase,
  eventually,
  expectProblem,
  expectStatus,
  kafkaProbe,
} from '@customer-platform/testing';
import { EarningService } from '../earning/earning.service.js';
import { ExpirySweep } from '../expiry/expiry.sweep.js';
import {
  type LookedUpContact,
  type LoyaltyWorld,
  aKey,
  aLoyaltyWorld,
  aRecordedEvent,
  endLot,
  startLoyalty,
} from '../loyalty.fixture.js';
import { ModelLedger } from './model.fixture.js';
import { wrongSums } from './sums.fixture.js';
import type { TransactionDto } from './transaction.dto.js';

const PATH = '/v1/loyalty/transactions';
const CALLS = 1_000;
const PEOPLE = 6;
const AT_ONCE = 24;
const EARNED = 15;

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
/** The database has no connection to spare for so many at once, on a machine that is busy besides. */
const BUSY = { within: 60_000 };
/** Under the same key again until there is a connection, as a client should. */
const post = (body: Record<string, unknown>): Promise<Answer<TransactionDto>> => {
  const key = aKey();
  return eventually(async () => {
    const answer = await world.caller.post<TransactionDto>(PATH, body, key);
    expect(answer.status).not.toBe(503);
    return answer;
  }, BUSY);
};
const sweep = () => eventually(() => app.app.get(ExpirySweep).sweep(), BUSY);

type Step =
  | { do: 'credit'; points: number; year: number | null }
  | { do: 'spend'; points: number }
  | { do: 'reverse'; which: number }
  | { do: 'end'; which: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    do: fc.constant('credit' as const),
    points: fc.integer({ min: 1, max: 60 }),
    year: fc.option(fc.integer({ min: 2060, max: 2064 })),
  }),
  fc.record({ do: fc.constant('spend' as const), points: fc.integer({ min: 1, max: 80 }) }),
  fc.record({ do: fc.constant('reverse' as const), which: fc.nat(40) }),
  fc.record({ do: fc.constant('end' as const), which: fc.nat(40) }),
);

/** One contact's ledger and its model side by side. */
class Course {
  readonly model = new ModelLedger();
  private readonly made: TransactionDto[] = [];
  private readonly contact = aContact();

  async take(next: Step): Promise<void> {
    switch (next.do) {
      case 'credit':
        return this.credit(next.points, next.year);
      case 'spend':
        return this.spend(next.points);
      case 'reverse':
        return this.reverse(this.made[next.which % Math.max(1, this.made.length)]);
      case 'end':
        return this.end(this.made[next.which % Math.max(1, this.made.length)]);
    }
  }

  async compare(): Promise<void> {
    const rows = await database.query<{ lot_id: string; remaining: number }>(
      `SELECT lot_id, remaining::float8 AS remaining FROM lot_balances l JOIN subjects s USING (organization_id, subject_ref)
        WHERE s.contact_id = $1 AND remaining <> 0`,
      [this.contact],
    );
    expect(Object.fromEntries(rows.map((row) => [row.lot_id, row.remaining]))).toEqual(this.model.remaining);
    const { points, available } = await world.balance(this.contact);
    expect([points, available]).toEqual([this.model.points, this.model.points]);
  }

  private async credit(points: number, year: number | null): Promise<void> {
    const ends = year === null ? {} : { expires_at: `${year}-01-01T00:00:00.000Z` };
    const made = await world.post({ kind: 'adjust', contact_id: this.contact, points, reason: 'x', ...ends });
    this.made.push(made);
    this.model.credit(made.id, points, year ?? Infinity);
  }

  private async spend(points: number): Promise<void> {
    const answer = await post({ kind: 'spend', contact_id: this.contact, points });
    if (!this.model.canSpend(points)) {
      const problem = expectProblem(answer, 409, 'insufficient_points');
      expect(problem).toMatchObject({ available: this.model.points, requested: points });
      return;
    }
    expectStatus(answer, 201);
    this.made.push(answer.body);
    this.model.spend(answer.body.id, points);
  }

  private async reverse(original: TransactionDto | undefined): Promise<void> {
    if (original === undefined) return;
    const answer = await post({ kind: 'reverse', reverses_id: original.id, reason: 'x' });
    const refusal = this.model.refusal(original.id);
    if (refusal !== undefined) {
      expectProblem(answer, 409, refusal);
      return;
    }
    expectStatus(answer, 201);
    this.made.push(answer.body);
    this.model.reverse(answer.body.id, original.id);
  }

  /** The end of a lot that has one; a sweep may come by later, which must make no difference to what follows. */
  private async end(opener: TransactionDto | undefined): Promise<void> {
    if (opener?.expires_at == null) return;
    await endLot(database, opener);
    await eventually(async () => {
      await sweep();
      const left = 'SELECT FROM lot_balances WHERE lot_id = $1 AND remaining > 0';
      expect(await database.query(left, [opener.id])).toEqual([]);
    });
    this.model.expire(opener.id);
  }
}

describe('the ledger', () => {
  it('does what the model does, lot by lot, through any course of credits, spends, reversals and ends', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 40 }), async (steps) => {
        const course = new Course();
        for (const next of steps) await course.take(next);
        await course.compare();
      }),
      { numRuns: 12, endOnFailure: true },
    );
    expect(await wrongSums(database, world.organizationId)).toEqual([]);
  });

  it(`adds up under ${CALLS} earns, spends, reversals and expiries at once, with merges in between`, async () => {
    await world.rule({ formula: { type: 'fixed', points: EARNED } });
    const people = Array.from({ length: PEOPLE }, aContact);
    const [survivor, merged] = people as [string, string];
    await Promise.all(
      people.map((contact_id) => post({ kind: 'adjust', contact_id, points: 500, reason: 'x' })),
    );
    const plan = fc.sample(
      fc.record({ roll: fc.nat(99), who: fc.nat(PEOPLE - 1), points: fc.integer({ min: 1, max: 90 }) }),
      CALLS,
    );
    const posted: TransactionDto[] = [];
    const events: ReturnType<typeof aRecordedEvent>[] = [];
    const call = async ({ roll, who, points }: (typeof plan)[number], index: number): Promise<void> => {
      const contact_id = people[who] as string;
      if (roll < 25) {
        const event = aRecordedEvent({ contact_id });
        events.push(event);
        await probe.publish({
          type: 'core.event.recorded.v1',
          organizationId: world.organizationId,
          data: event,
        });
        return;
      }
      if (roll < 30) {
        await sweep();
        return;
      }
      const answer = await post(bodyOf(roll, contact_id, points, posted[index % Math.max(1, posted.length)]));
      // Nothing but what the rules of the ledger refuse.
      if (answer.status !== 201) return expectRefused(answer);
      posted.push(answer.body);
      if (roll < 45) await endLot(database, answer.body);
    };
    const left = plan.map((each, index) => [each, index] as const);
    const work = async (): Promise<void> => {
      for (let next = left.shift(); next; next = left.shift()) {
        if (left.length === 700) await told('core.contact.merged.v1', survivor, merged, 2);
        if (left.length === 350) await told('core.contact.unmerged.v1', survivor, merged, 3);
        await call(...next);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    await eventually(
      async () => {
        await sweep();
        const counts = await database.query(
          `SELECT (SELECT count(*)::int FROM transactions WHERE organization_id = $1 AND kind = 'earn') AS earned,
                  (SELECT count(*)::int FROM lot_balances WHERE organization_id = $1 AND remaining > 0 AND expires_at < now()) AS due`,
          [world.organizationId],
        );
        expect(counts).toEqual([{ earned: events.length, due: 0 }]);
      },
      { within: 30_000 },
    );
    expect(await wrongSums(database, world.organizationId)).toEqual([]);
    const [ledger] = await database.query<{ points: number; expired: number; reversals: number }>(
      `SELECT sum(points)::float8 AS points, sum(points) FILTER (WHERE kind = 'expire')::float8 AS expired,
              count(reverses_id)::int - count(DISTINCT reverses_id)::int AS reversals
         FROM transactions WHERE organization_id = $1`,
      [world.organizationId],
    );
    const answered = posted.reduce((sum, { points }) => sum + points, 0);
    expect(ledger).toMatchObject({ reversals: 0 });
    expect(ledger?.points).toBe(
      PEOPLE * 500 + answered + events.length * EARNED + Number(ledger?.expired ?? 0),
    );
    const balances = await Promise.all(people.map((id) => world.balance(id)));
    expect(balances.reduce((sum, { points }) => sum + points, 0)).toBe(ledger?.points);
  }, 120_000);

  it('posts an event once under 1,000 parallel deliveries', async () => {
    await world.rule({ formula: { type: 'fixed', points: EARNED } });
    const event = aRecordedEvent({ received_at: new Date(Date.now() + 1_000).toISOString() });
    const { organizationId } = world;
    const delivered = { organizationId, event, correlationId: event.event_id, causationId: randomUUID() };
    const earn = () =>
      app.app.get(Database).acrossOrganizations((tx) => app.app.get(EarningService).earn(tx, [delivered]));
    let left = CALLS;
    const deliver = async (): Promise<void> => {
      for (; left > 0;) {
        left -= 1;
        await earn();
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, deliver));
    expect(await world.transactions(`event_id=${event.event_id}`)).toHaveLength(1);
    expect(await wrongSums(database, organizationId)).toEqual([]);
  }, 60_000);
});

function bodyOf(
  roll: number,
  contact_id: string,
  points: number,
  original: TransactionDto | undefined,
): Record<string, unknown> {
  if (roll < 45)
    return { kind: 'adjust', contact_id, points, reason: 'x', expires_at: '2090-01-01T00:00:00.000Z' };
  if (roll < 70 || original === undefined) return { kind: 'spend', contact_id, points };
  return { kind: 'reverse', reverses_id: original.id, reason: 'x' };
}

function expectRefused(answer: Answer<TransactionDto>): void {
  const { code } = answer.body as unknown as { code: string };
  expect([answer.status, code]).toEqual([409, expect.any(String)]);
  expect(['insufficient_points', 'already_reversed', 'not_reversible']).toContain(code);
}

async function told(
  type: 'core.contact.merged.v1' | 'core.contact.unmerged.v1',
  survivor: string,
  merged: string,
  version: number,
): Promise<void> {
  await probe.publish({
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
}
