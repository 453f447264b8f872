import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { Clock, Database } from '@customer-platform/database';
import {
  draws,
  type KafkaProbe,
  type TestApp,
  type TestDatabase,
  domainEvent,
  eventually,
  expectProblem,
  expectStatus,
  kafkaProbe,
} from '@customer-platform/testing';
import { CoreEventsConsumer } from '../core-events.consumer.js';
import { EarningService } from '../earning/earning.service.js';
import { ExpirySweep } from '../expiry/expiry.sweep.js';
import {
  type LookedUpContact,
  type LoyaltyWorld,
  aKey,
  aLoyaltyWorld,
  aRecordedEvent,
  startLoyalty,
} from '../loyalty.fixture.js';
import { type Kind, type Meeting, MEETINGS, Meetings } from './meetings.fixture.js';
import { ModelLedger } from './model.fixture.js';
import type { TransactionDto } from './transaction.dto.js';

const PATH = '/v1/loyalty/transactions';
const DAY_MS = 86_400_000;
/** Before a release all meetings are drawn; else those at an end, where most went wrong, and the others come about plainly. */
const DRAWS = draws(1, 5);
const ALL = DRAWS.numRuns > 1;
const SCENES_OF_HISTORY = 7;

let app: TestApp;
let database: TestDatabase;
let contacts: LookedUpContact[];
let probe: KafkaProbe;
let close: () => Promise<void>;
let world: LoyaltyWorld;
let now = Date.now();
const meetings = new Meetings();
beforeAll(async () => {
  ({ app, database, contacts, close } = await startLoyalty());
  probe = kafkaProbe(app);
  app.app.get(Clock).now = () => new Date(now);
  world = aLoyaltyWorld(app, probe);
  const formula = { type: 'per_amount', currency: 'CLP', per: 1, points: 1 };
  await world.rule({ event: 'ends', formula, expires_after_days: 1 });
  await world.rule({ event: 'stays', formula });
});
afterAll(async () => {
  process.stdout.write('\nMeetings before/at/after an end:\n');
  process.stdout.write(`${meetings.table}\n`);
  await close();
});

const consumer = (): CoreEventsConsumer => app.app.get(CoreEventsConsumer);

interface Step {
  kind: Kind;
  points: number;
  /** How many quarters of a day a new lot lives; null: for ever. */
  lives: number | null;
  which: number;
  /** Before it the time comes near the next end, to it, or past it; or all but stands still. */
  wait: 'still' | 'near' | 'at' | 'past';
}

/** What of a meeting is left to chance. */
interface Chance {
  points: readonly [number, number, number];
  which: number;
  lives: number;
}

const chance: fc.Arbitrary<Chance> = fc.record({
  points: fc.tuple(
    fc.integer({ min: 25, max: 60 }),
    fc.integer({ min: 1, max: 20 }),
    fc.integer({ min: 1, max: 30 }),
  ),
  which: fc.nat(40),
  lives: fc.integer({ min: 1, max: 2 }),
});

const PLAIN: Chance = { points: [50, 5, 5], which: 1, lives: 1 };

/** Those at an end seldom come about by themselves; those before and after it come with them, and what is missing after. */
const DRAWN = MEETINGS.filter(([, , phase]) => ALL || phase === 'at');
/** Every kind with every other, in whatever order. */
const round = fc.record({
  meetings: fc.shuffledSubarray(DRAWN, { minLength: DRAWN.length }),
  chances: fc.array(chance, { minLength: DRAWN.length, maxLength: DRAWN.length }),
});

/** A lot that will end, some of it spent; the first posting; the time; the second. */
function scene([first, second, phase]: Meeting, { points, which, lives }: Chance, at: number): Step[] {
  const base = { points: points[2], lives, which, wait: 'still' as const };
  const lasting: Step[] = [
    { ...base, kind: 'add', points: points[0], lives: 8 },
    { ...base, kind: 'add', points: points[0], lives: null },
  ];
  const come = { before: 'near', at: 'at', after: 'past' } as const;
  const isDue = (kind: Kind): Step['wait'] => (kind === 'expire' ? 'past' : 'still');
  const undone = [first, second].filter((kind) => kind === 'undo');
  const merges = undone.map((): Step => ({ ...base, kind: 'merge' }));
  const spend: Step = { ...base, kind: 'spend', points: points[1] };
  const spends = first === 'reverse_debit' && second === first ? [spend, spend] : [spend];
  const isNewborn = first === 'erase';
  // Whoever comes after who was erased has nothing to spend yet, and is merged with nobody.
  const begun: Step[] = [...merges, { ...base, kind: 'add', points: points[0], lives: null }, spend];
  return [
    ...(at % 3 === 0 || first === 'expire' ? lasting : []),
    { ...base, kind: 'add', points: points[0] },
    ...spends,
    ...(isNewborn ? [] : merges),
    { ...base, kind: first, wait: isDue(first) },
    ...(isNewborn ? begun : []),
    { ...base, kind: second, wait: second === 'expire' && phase === 'before' ? 'past' : come[phase] },
  ];
}

/** One contact's ledger and its model side by side. */
class History {
  private readonly model = new ModelLedger();
  private readonly postings: { kind: Kind; ends: number[] }[] = [];
  /** By their numbers in the model. */
  private readonly people: string[] = [];
  private version = 1;
  /** Whether something has ended since the last sweep. */
  private due = false;

  constructor() {
    this.person(0);
  }

  /** Who posts. */
  private get contact(): string {
    return this.person(this.model.contact);
  }

  private person(number: number): string {
    while (this.people.length <= number) {
      const id = randomUUID();
      contacts.push({ id, state: 'active', merged_into: null, version: 1 });
      this.people.push(id);
    }
    return this.people[number] ?? '';
  }

  async take(next: Step): Promise<void> {
    this.wait(next.wait);
    if (!(await this.post(next))) return;
    meetings.note(next.kind, now, this.postings);
    this.postings.push({ kind: next.kind, ends: this.ends() });
  }

  /** What can be spent is right before any sweep, too. */
  async look(): Promise<void> {
    expect((await world.balance(this.contact)).available).toBe(this.model.points);
  }

  async compare(): Promise<void> {
    await this.sweep();
    const rows = await database.query<{ lot_id: string; remaining: number }>(
      `SELECT lot_id, remaining::float8 AS remaining FROM lot_balances
        WHERE organization_id = $1 AND lot_id = ANY($2::uuid[]) AND remaining <> 0`,
      [world.organizationId, this.lotIds],
    );
    expect(Object.fromEntries(rows.map((row) => [row.lot_id, row.remaining]))).toEqual(this.model.remaining);
    expect((await world.balance(this.contact)).points).toBe(this.model.points);
  }

  private get lotIds(): string[] {
    return this.model.lots.map(({ id }) => id);
  }

  /** Of the lots that had not ended yet. */
  private ends(): number[] {
    return this.model.lots.filter(({ ended, end }) => !ended && end !== Infinity).map(({ end }) => end);
  }

  private wait(how: Step['wait']): void {
    const end = Math.min(...this.ends().filter((each) => each > now));
    const offset = { still: undefined, near: -1, at: 0, past: 1 }[how];
    now = offset === undefined || end === Infinity ? now + 1 : Math.max(now, end + offset);
    if (this.model.comeTo(now) > 0) this.due = true;
  }

  /** Whether there is a posting of it; else it was refused, as it had to be. */
  private post(next: Step): Promise<boolean> {
    const { kind, points } = next;
    switch (kind) {
      case 'earn':
        return this.earn(next);
      case 'add':
        return this.add(next);
      case 'deduct':
        return this.debit({ kind: 'adjust', points: -points, reason: 'x' }, points);
      case 'spend':
        return this.debit({ kind: 'spend', points }, points);
      case 'expire':
        return this.expire();
      case 'reverse_credit':
        return this.reverse(this.model.unreversed(1), next.which);
      case 'reverse_debit':
        return this.reverse(this.model.unreversed(-1), next.which);
      case 'merge':
        return this.merge();
      case 'undo':
        return this.undo();
      case 'erase':
        return this.erase();
    }
  }

  private async merge(): Promise<boolean> {
    const merged = this.contact;
    const survivor = this.person(this.model.merge());
    await this.tell('core.contact.merged.v1', survivor, merged);
    return true;
  }

  private async undo(): Promise<boolean> {
    const survivor = this.model.undo();
    if (survivor === undefined) return false;
    await this.tell('core.contact.unmerged.v1', this.person(survivor), this.contact);
    return true;
  }

  private async erase(): Promise<boolean> {
    const data = { subject_request_id: randomUUID(), contact_id: this.contact };
    this.model.erase();
    await consumer().erase([domainEvent('core.erasure.requested.v1', world.organizationId, data)]);
    return true;
  }

  private tell(
    type: 'core.contact.merged.v1' | 'core.contact.unmerged.v1',
    survivor: string,
    merged: string,
  ): Promise<void> {
    this.version += 1;
    const versions = { survivor_version: this.version, merged_version: this.version };
    const data = { merge_id: randomUUID(), survivor_id: survivor, merged_id: merged, ...versions };
    return consumer().followContacts([domainEvent(type, world.organizationId, data)]);
  }

  private async earn({ points, lives }: Step): Promise<boolean> {
    const at = new Date(now).toISOString();
    const event = aRecordedEvent({
      contact_id: this.contact,
      event: lives === null ? 'stays' : 'ends',
      properties: { amount: points, currency: 'CLP' },
      occurred_at: at,
      received_at: at,
    });
    const { organizationId } = world;
    const given = { organizationId, event, correlationId: event.event_id, causationId: randomUUID() };
    await app.app.get(Database).acrossOrganizations((tx) => app.app.get(EarningService).earn(tx, [given]));
    const [earned] = await world.transactions(`event_id=${event.event_id}`);
    this.model.credit(String(earned?.id), points, lives === null ? Infinity : now + DAY_MS);
    return true;
  }

  private async add({ points, lives }: Step): Promise<boolean> {
    const end = lives === null ? Infinity : now + (lives * DAY_MS) / 4;
    const ends = lives === null ? {} : { expires_at: new Date(end).toISOString() };
    const body = { kind: 'adjust', contact_id: this.contact, points, reason: 'x', ...ends };
    this.model.credit((await world.post(body)).id, points, end);
    return true;
  }

  private async debit(body: Record<string, unknown>, points: number): Promise<boolean> {
    const answer = await world.caller.post<TransactionDto>(
      PATH,
      { ...body, contact_id: this.contact },
      aKey(),
    );
    if (!this.model.canTake(points)) {
      const problem = expectProblem(answer, 409, 'insufficient_points');
      expect(problem).toMatchObject({ available: this.model.points, requested: points });
      return false;
    }
    expectStatus(answer, 201);
    this.model.debit(answer.body.id, points);
    return true;
  }

  private async expire(): Promise<boolean> {
    await this.sweep();
    const posted = this.due;
    this.due = false;
    return posted;
  }

  private async sweep(): Promise<void> {
    await eventually(async () => {
      await app.app.get(ExpirySweep).sweep();
      const left = `SELECT FROM lot_balances
        WHERE organization_id = $1 AND lot_id = ANY($2::uuid[]) AND remaining > 0 AND expires_at <= $3`;
      const given = [world.organizationId, this.lotIds, new Date(now)];
      expect(await database.query(left, given)).toEqual([]);
    });
  }

  private async reverse(ids: readonly string[], which: number): Promise<boolean> {
    // Mostly one of which something is left.
    const left = which % 8 === 0 ? ids : ids.filter((each) => this.model.refusal(each) === undefined);
    const id = left[which % Math.max(1, left.length)];
    if (id === undefined) return false;
    const body = { kind: 'reverse', reverses_id: id, reason: 'x' };
    const answer = await world.caller.post<TransactionDto>(PATH, body, aKey());
    const refusal = this.model.refusal(id);
    if (refusal !== undefined) {
      expectProblem(answer, 409, refusal);
      return false;
    }
    expectStatus(answer, 201);
    this.model.reverse(answer.body.id, id, now);
    return true;
  }
}

describe('the ledger', () => {
  it(
    'does what the model does, lot by lot, and every kind of posting meets every other before, at and after an end',
    async () => {
      await fc.assert(
        fc.asyncProperty(round, async ({ meetings: drawn, chances }) => {
          for (let from = 0; from < drawn.length; from += SCENES_OF_HISTORY) {
            const history = new History();
            for (let at = from; at < Math.min(from + SCENES_OF_HISTORY, drawn.length); at += 1) {
              const steps = scene(drawn[at] as Meeting, chances[at] as Chance, at - from);
              for (const next of steps) await history.take(next);
              await history.look();
            }
            await history.compare();
          }
        }),
        DRAWS,
      );
      // What debts and refusals have kept from coming about, each on a ledger without any.
      for (const meeting of meetings.missing) {
        const history = new History();
        for (const next of scene(meeting, PLAIN, 0)) await history.take(next);
        await history.compare();
      }
      expect(meetings.missing).toEqual([]);
    },
    120_000 * DRAWS.numRuns,
  );
});
