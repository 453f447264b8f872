import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { Database } from '@customer-platform/database';
import {
  type Answer,
  type KafkaProbe,
  type TestApp,
  type TestDatabase,
  eventually,
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
import { wrongFigures } from './figures.fixture.js';
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

describe('the ledger', () => {
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
    expect(await wrongFigures(database, world.organizationId)).toEqual([]);
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
    expect(await wrongFigures(database, organizationId)).toEqual([]);
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
