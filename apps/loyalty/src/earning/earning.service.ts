import { Inject, Injectable } from '@nestjs/common';
import {
  afterLocks,
  byteas,
  Clock,
  isTransient,
  ReferenceHolds,
  WriteConflict,
  type Transaction,
  type WorkerTransaction,
} from '@customer-platform/database';
import { Outbox } from '@customer-platform/event-bus';
import { LoyaltyContactRefs } from '../contacts/loyalty-contact-refs.js';
import { type MovedPoints, pointsEvents } from '../ledger/points-events.js';
import { type Earning, type Posted, postEarned } from '../ledger/post-earned.js';
import { lockSubjects } from '../ledger/subjects.js';
import { LEDGER_KEY } from '../ledger-key.js';
import { cutToCaps, nearCaps, type Owned } from './caps.js';
import { type Candidate, type RecordedEvent, candidateOf, candidatesOf } from './evaluate.js';
import { ruleEventHash } from './rule-event-hash.js';
import { RuleBooks, rulesFor } from './rule-book.js';

/** An event to evaluate, with the correlation that its points shall carry. */
export interface ToEvaluate {
  organizationId: string;
  event: RecordedEvent;
  correlationId: string;
  /** The domain event that brought it. */
  causationId: string;
}

/** A rule that could not be applied to an event. */
export interface RuleFailure {
  readonly ruleId: string;
  readonly error: unknown;
}

/** Each by itself and through the index: for a list of hashes the planner reads the whole ledger. */
const POSTED = `
  SELECT encode(given.hash, 'hex') AS hash
    FROM unnest($2::bytea[]) AS given (hash)
   CROSS JOIN LATERAL (
     SELECT FROM transactions WHERE organization_id = $1 AND rule_event_hash = given.hash OFFSET 0) AS posted`;

/** Turns recorded events into points: evaluate → whose → lock → cut to caps → post → tell. */
@Injectable()
export class EarningService {
  constructor(
    private readonly books: RuleBooks,
    private readonly contacts: LoyaltyContactRefs,
    private readonly holds: ReferenceHolds,
    private readonly outbox: Outbox,
    private readonly clock: Clock,
    @Inject(LEDGER_KEY) private readonly key: string,
  ) {}

  /**
   * Posts what the events earn, each (rule, event) once for ever. An organization whose rules ask for none of its events
   * costs a share of one statement.
   * @throws PointsOutOfRange, and whatever the database says; nothing of the run is posted then
   */
  async earn(tx: WorkerTransaction, events: readonly ToEvaluate[]): Promise<void> {
    const groups = Map.groupBy(events, ({ organizationId }) => organizationId);
    // In one order for all, so that two runs wait for each other's subjects instead of deadlocking.
    const organizationIds = [...groups.keys()].sort();
    const oldest = organizationIds.map((id) => [id, oldestOf(groups.get(id) ?? [])] as const);
    const books = await this.books.ofAll(tx, new Map(oldest));
    for (const organizationId of organizationIds) {
      const book = books.get(organizationId);
      const own = groups.get(organizationId) ?? [];
      const candidates = book
        ? own.flatMap(({ event, correlationId }) => candidatesOf(book, event, correlationId))
        : [];
      if (candidates.length === 0) continue;
      await tx.useOrganization(organizationId);
      await this.postCandidates(tx, candidates, own);
    }
  }

  /**
   * As `earn`, for one event, each rule by itself. Answers the rules that failed: nothing of theirs is posted, and what
   * the others give is.
   * @throws what says nothing of a rule: another try may pass
   */
  async earnApart(tx: WorkerTransaction, each: ToEvaluate): Promise<RuleFailure[]> {
    const { organizationId, event, correlationId } = each;
    const receivedAt = oldestOf([each]);
    const books = await this.books.ofAll(tx, new Map([[organizationId, receivedAt]]));
    const book = books.get(organizationId);
    await tx.useOrganization(organizationId);
    const failures: RuleFailure[] = [];
    for (const history of book ? rulesFor(book, event.event, receivedAt) : []) {
      try {
        const candidates = candidateOf(history, event, correlationId);
        if (candidates.length > 0) await tx.savepoint(() => this.postCandidates(tx, candidates, [each]));
      } catch (error) {
        if (isTransient(error) || error instanceof WriteConflict) throw error;
        failures.push({ ruleId: history.ruleId, error });
      }
    }
    return failures;
  }

  private async postCandidates(
    tx: Transaction,
    candidates: readonly Candidate[],
    events: readonly ToEvaluate[],
  ): Promise<void> {
    const owned = await this.ownersOf(tx, candidates);
    if (owned.length === 0) return;
    const contactIds = owned.map(({ contactId }) => contactId);
    const [subjects, now] = await afterLocks(this.clock, lockSubjects(tx, contactIds));
    await this.contacts.demandNotErased(tx, contactIds);
    const near = await nearCaps(tx, owned, subjects);
    const due = await cutToCaps(tx, await this.notYetPosted(tx, owned, near), near);
    const posted = await postEarned(
      tx,
      due.map((candidate) => this.earningOf(tx, candidate, now)),
      subjects,
      now,
    );
    await this.tell(tx, posted, events, now);
  }

  /**
   * Soft-deleted and erased contacts earn nothing; a merged one's points are its survivor's. One that core is about to
   * purge was soft-deleted there, whether or not that is known here yet.
   */
  private async ownersOf(tx: Transaction, candidates: readonly Candidate[]): Promise<Owned[]> {
    const owners = await this.contacts.keepEarners(
      tx,
      candidates.map(({ event }) => event.contact_id),
    );
    const held = await this.holds.held(tx, 'core.contacts', [...owners.values()]);
    return candidates.flatMap((candidate) => {
      const contactId = owners.get(candidate.event.contact_id);
      return contactId === undefined || held.has(contactId) ? [] : [{ ...candidate, contactId }];
    });
  }

  /**
   * Leaves out what has earned before, so that a redelivery uses up no cap. Where no cap is near, posting itself
   * leaves it out.
   */
  private async notYetPosted(
    tx: Transaction,
    candidates: readonly Owned[],
    near: ReadonlySet<Owned>,
  ): Promise<Owned[]> {
    if (near.size === 0) return [...candidates];
    const hashes = new Map([...near].map((candidate) => [candidate, this.hashOf(tx, candidate)]));
    const rows = await tx.query<{ hash: string }>(POSTED, [tx.organizationId, byteas([...hashes.values()])]);
    const seen = new Set(rows.map(({ hash }) => hash));
    return candidates.filter((candidate) => {
      const hash = hashes.get(candidate)?.toString('hex');
      if (hash === undefined) return true;
      if (seen.has(hash)) return false;
      seen.add(hash);
      return true;
    });
  }

  private hashOf(tx: Transaction, { ruleId, event }: Candidate): Buffer {
    return ruleEventHash(this.key, tx.organizationId, ruleId, event.event_id);
  }

  private earningOf(tx: Transaction, candidate: Owned, now: Date): Earning {
    const { event, contactId, points, correlationId, ruleId, version, content } = candidate;
    const days = content.expiresAfterDays;
    return {
      contactId,
      points,
      rule: { id: ruleId, version, eventHash: this.hashOf(tx, candidate) },
      eventId: event.event_id,
      correlationId,
      occurredAt: event.occurred_at,
      expiresAt: days === null ? null : new Date(now.getTime() + days * 86_400_000),
    };
  }

  private async tell(
    tx: Transaction,
    posted: readonly Posted[],
    events: readonly ToEvaluate[],
    now: Date,
  ): Promise<void> {
    if (posted.length === 0) return;
    const causeOf = new Map(events.map(({ event, causationId }) => [event.event_id, causationId]));
    const moved = posted.map((earned): MovedPoints => ({
      kind: 'earn',
      transactionId: earned.id,
      contactId: earned.contactId,
      points: earned.points,
      ruleId: earned.rule.id,
      eventId: earned.eventId,
      correlationId: earned.correlationId,
      causationId: causeOf.get(earned.eventId),
    }));
    await this.outbox.append(tx, await pointsEvents(tx, moved, now));
  }
}

/** When the first of them was received. */
function oldestOf(events: readonly ToEvaluate[]): number {
  return events.reduce((oldest, { event }) => Math.min(oldest, Date.parse(event.received_at)), Infinity);
}
