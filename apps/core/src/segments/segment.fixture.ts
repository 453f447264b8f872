import { AsyncLocalStorage } from 'node:async_hooks';
import { jest } from '@jest/globals';
import type { Type } from '@nestjs/common';
import { Tenants } from '@customer-platform/authorization';
import { Outbox } from '@customer-platform/event-bus';
import { DeadLetterReplayer } from '../dead-letters/dead-letter.replayer.js';
import { StoredEventLetters } from '../dead-letters/stored-event-letters.js';
import { Clock, Database, newId } from '@customer-platform/database';
import { DatabaseFault, expectStatus, type Caller } from '@customer-platform/testing';
import { EventProcessor } from '../processing/event-processor.js';
import { FailingEvents } from '../processing/failing-events.js';
import { eventIdOf } from '../vocabulary/events/event-id.js';
import { readArrival } from '../vocabulary/events/work-item.js';
import { startCoreWithPeers, type CoreWithPeers } from '../people/contacts/contact.fixture.js';
import type { TestCore } from '../core.fixture.js';
import { SegmentFollower, type ContactChange } from '../following/segment-follower.js';
import { SegmentBuilder } from './building/segment-builder.js';
import { Evaluation } from './evaluating/evaluation.js';
import { EvaluatorShares } from './evaluating/evaluator-shares.js';
import { FailedEvaluations } from './evaluating/failed-evaluations.js';
import { SegmentIndexes } from '../following/segment-indexes.js';
import { SegmentSignal } from '../following/segment.signal.js';
import { SegmentEvaluator } from './evaluating/segment.evaluator.js';
import type { SegmentDto, SegmentMemberDto } from './segment.dto.js';

/** The collection. */
export const SEGMENTS = '/v1/core/segments';

/** A member as it is listed, with its verdict. */
export type Member = SegmentMemberDto;

/** An event of a contact as a spec gives it; times are ISO 8601. */
export interface Given {
  readonly kind?: 'track' | 'identify';
  readonly externalId: string;
  readonly at: string;
  readonly event?: string;
  readonly properties?: Record<string, unknown>;
  readonly traits?: Record<string, unknown>;
  readonly identities?: readonly { type: string; value: string }[];
  readonly key?: string;
}

/**
 * Core without its workers: a spec gives events their effect, evaluates and moves the clock by itself, so that
 * nothing happens but what it says.
 */
export class SegmentWorld {
  private time: number | undefined;

  readonly core: TestCore;

  private constructor(private readonly running: CoreWithPeers) {
    this.core = running.core;
    const clock = this.core.app.app.get(Clock);
    jest.spyOn(clock, 'now').mockImplementation(() => new Date(this.time ?? Date.now()));
  }

  static async start(): Promise<SegmentWorld> {
    return new SegmentWorld(await startCoreWithPeers(undefined, { PROCESS_ROLE: 'api' }));
  }

  /** What messaging says from now on of campaigns that are aimed at segments. */
  campaigns(count: number): void {
    this.running.count('messaging', 'campaigns', count);
  }

  /** Stands the clock still at this instant, or lets it go again. */
  stopClock(at?: number | string): void {
    this.time = typeof at === 'string' ? Date.parse(at) : at;
  }

  /** Moves the stopped clock on. */
  pass(ms: number): void {
    this.time = (this.time ?? Date.now()) + ms;
  }

  now(offset = 0): string {
    return new Date((this.time ?? Date.now()) + offset).toISOString();
  }

  anOrganization(): { id: string; caller: Caller } {
    return this.core.anOrganization();
  }

  /** A segment that has been built. */
  async segment(caller: Caller, rule: object, name = newId()): Promise<SegmentDto> {
    const answer = await caller.post<SegmentDto>(SEGMENTS, { name, rule });
    expectStatus(answer, 201);
    await this.evaluate();
    return this.read(caller, answer.body.id);
  }

  async read(caller: Caller, id: string): Promise<SegmentDto> {
    const answer = await caller.get<SegmentDto>(`${SEGMENTS}/${id}`);
    expectStatus(answer, 200);
    return answer.body;
  }

  /** Stores events as the worker does, all in one transaction. */
  async store(organizationId: string, given: readonly Given[]): Promise<void> {
    const arrivals = given.map((each) => arrivalOf(organizationId, each, Date.parse(this.now())));
    const database = this.core.app.app.get(Database, { strict: false });
    const processor = this.core.app.app.get(EventProcessor, { strict: false });
    await database.acrossOrganizations((tx) => processor.process(tx, arrivals));
  }

  /** As {@link store}, for events of which one fails. */
  async storeCarefully(organizationId: string, given: readonly Given[]): Promise<void> {
    const arrivals = given.map((each) => arrivalOf(organizationId, each, Date.parse(this.now())));
    const failing = this.core.app.app.get(FailingEvents, { strict: false });
    await this.core.app.app
      .get(Database, { strict: false })
      .acrossOrganizations((tx) => failing.process(tx, arrivals));
  }

  /** Stores events and evaluates. */
  async happen(organizationId: string, ...given: Given[]): Promise<void> {
    await this.store(organizationId, given);
    await this.evaluate();
  }

  /** Does all that is to be done now. */
  evaluate(): Promise<void> {
    return this.evaluator.runAll();
  }

  /** One transaction of the evaluation; whether it did anything. */
  turn(organizationId: string): Promise<boolean> {
    return this.evaluator.turn(organizationId);
  }

  /** One that ends as if its process were killed just before the commit. */
  async killedTurn(organizationId: string): Promise<void> {
    await this.killed(async () => {
      await expect(this.turn(organizationId)).rejects.toThrow('killed');
    });
  }

  /**
   * Does work whose first transaction over organizations that writes ends as if its process were killed just before the
   * commit. What the app's own jobs write meanwhile goes on.
   */
  async killed(work: () => Promise<unknown>): Promise<void> {
    const within = new AsyncLocalStorage<true>();
    const database = this.core.app.app.get(Database, { strict: false });
    const run = database.acrossOrganizations.bind(database);
    let killed = false;
    const spy = jest.spyOn(database, 'acrossOrganizations').mockImplementation((inside, options) =>
      run(async (tx, answer) => {
        const result = await inside(tx, answer);
        const [written] = await tx.query<{ id: string | null }>(
          'SELECT pg_current_xact_id_if_assigned() AS id',
        );
        if (killed || !written?.id || !within.getStore()) return result;
        killed = true;
        throw new Error('killed');
      }, options),
    );
    try {
      await within.run(true, work);
    } finally {
      spy.mockRestore();
    }
  }

  /** The evaluator that another instance on the same database would have. */
  anotherEvaluator(): SegmentEvaluator {
    const of = <T>(type: Type<T>): T => this.core.app.app.get(type, { strict: false });
    const evaluation = new Evaluation(of(Outbox));
    return new SegmentEvaluator(
      of(Database),
      of(Clock),
      new SegmentIndexes(),
      evaluation,
      new SegmentBuilder(evaluation),
      new FailedEvaluations(evaluation, of(Outbox), of(StoredEventLetters)),
      new SegmentSignal(),
      new EvaluatorShares(of(Database)),
      of(Tenants),
    );
  }

  /** Makes Postgres refuse to let a contact into any segment, until the answer is called. */
  async refuseMember(
    organizationId: string,
    externalId: string,
    code?: string,
  ): Promise<() => Promise<void>> {
    const { query } = this.core.database;
    const [contact] = await query<{ id: string }>(
      'SELECT id FROM contacts WHERE organization_id = $1 AND external_id = $2',
      [organizationId, externalId],
    );
    const fault = await DatabaseFault.in(this.core.database, {
      table: 'segment_members',
      on: 'INSERT',
      when: `NEW.contact_id = '${contact?.id ?? ''}'`,
      code,
    });
    return () => fault.mend();
  }

  /** Runs the dead letters again that are queued for it. */
  replay(): Promise<boolean> {
    return this.core.app.app.get(DeadLetterReplayer, { strict: false }).runAll();
  }

  private get evaluator(): SegmentEvaluator {
    return this.core.app.app.get(SegmentEvaluator, { strict: false });
  }

  async members(caller: Caller, { id }: { id: string }, query = ''): Promise<Member[]> {
    const answer = await caller.get<{ data: Member[] }>(`${SEGMENTS}/${id}/members${query}`);
    expectStatus(answer, 200);
    return answer.body.data;
  }

  /** External ids of who is in a segment, sorted. */
  async inside(caller: Caller, segment: { id: string }): Promise<(string | null)[]> {
    return (await this.members(caller, segment)).map(({ external_id: id }) => id).sort();
  }

  /** The domain events about memberships, in the order in which they were written. */
  async envelopes(organizationId: string): Promise<MembershipEvent[]> {
    const events = await this.outbox<MembershipEvent>(organizationId);
    return events.filter(({ type }) => type?.startsWith('core.segment.'));
  }

  /** All that is to be published, in the order in which it was written. */
  async outbox<T>(organizationId: string): Promise<T[]> {
    const rows = await this.core.database.query<{ messages: [string, string][] }>(
      `SELECT messages FROM outbox WHERE organization_id = $1 ORDER BY id`,
      [organizationId],
    );
    return rows.flatMap(({ messages }) => messages.map(([, value]) => JSON.parse(value) as T));
  }

  /** What was told of memberships, in short: `entered <contact id> event`. */
  async told(organizationId: string): Promise<string[]> {
    return (await this.envelopes(organizationId)).map(
      ({ type, data }) => `${type.split('.')[2] ?? ''} ${data.contact_id} ${data.cause}`,
    );
  }

  /** Tells the segments of a change of a contact, and evaluates. */
  async changed(
    organizationId: string,
    contactId: string,
    cause: ContactChange['cause'] = 'attribute',
  ): Promise<void> {
    const { app } = this.core.app;
    const follower = app.get(SegmentFollower, { strict: false });
    await app
      .get(Database, { strict: false })
      .inOrganization({ organizationId }, (tx) =>
        follower.contactsChanged(tx, [{ contactId, cause, correlationId: newId() }]),
      );
    await this.evaluate();
  }

  /** Rows of an organization in a table. */
  async count(table: string, organizationId: string): Promise<number> {
    const [row] = await this.core.database.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM ${table} WHERE organization_id = $1`,
      [organizationId],
    );
    return row?.count ?? 0;
  }

  async close(): Promise<void> {
    await this.running.close();
  }
}

/** A domain event about a membership. */
interface MembershipEvent {
  type: string;
  correlationid: string;
  causationid?: string;
  data: { segment_id: string; contact_id: string; cause: string; at: string };
}

function arrivalOf(organizationId: string, given: Given, receivedAt: number) {
  const { kind = given.traits ? 'identify' : 'track', externalId, at, key = newId() } = given;
  const sent = { external_id: externalId, idempotency_key: key, occurred_at: at };
  const body =
    kind === 'track'
      ? { event: given.event ?? 'invoice_paid', ...sent, properties: given.properties ?? {} }
      : { ...sent, traits: given.traits ?? {}, identities: given.identities };
  return readArrival(
    {
      organizationId,
      eventId: eventIdOf(organizationId, key),
      kind,
      receivedAt,
      body: Buffer.from(JSON.stringify(body)),
    },
    0,
  );
}
