import { Controller } from '@nestjs/common';
import { Clock, Database, postgresFailure, type Transaction } from '@customer-platform/database';
import { type EventFailure, OnEvent, Outbox } from '@customer-platform/event-bus';
import { type ErasureRequested, Erasures } from '@customer-platform/erasure';
import type { DomainEvent } from '@customer-platform/events';
import { log } from '@customer-platform/http';
import { ContactRefs, type ContactState } from './contacts/contact-refs.js';
import { EarningService, type ToEvaluate } from './earning/earning.service.js';
import { PointsOutOfRange } from './earning/points.js';
import { eraseSubjects } from './ledger/erase-subjects.js';
import { moveSubjects } from './ledger/move-subjects.js';

type ContactChanged = DomainEvent<
  | 'core.contact.created.v1'
  | 'core.contact.updated.v1'
  | 'core.contact.deleted.v1'
  | 'core.contact.restored.v1'
>;
type ContactsMerged = DomainEvent<'core.contact.merged.v1' | 'core.contact.unmerged.v1'>;
type Evaluable = DomainEvent<'core.event.recorded.v1' | 'core.dead_letter.replayed.v1'>;

/**
 * Follows core: contacts first, then what their events earn. One class, so that a contact's events keep their order
 * across types.
 */
@Controller()
export class CoreEventsConsumer {
  constructor(
    private readonly database: Database,
    private readonly contacts: ContactRefs,
    private readonly earning: EarningService,
    private readonly outbox: Outbox,
    private readonly erasures: Erasures,
    private readonly clock: Clock,
  ) {}

  @OnEvent([
    'core.contact.created.v1',
    'core.contact.updated.v1',
    'core.contact.deleted.v1',
    'core.contact.restored.v1',
  ])
  async followContacts(events: ContactChanged[]): Promise<void> {
    const states = events.flatMap((event) =>
      statesOf(event).map((state) => ({ ...state, organizationId: event.organizationid })),
    );
    await this.database.acrossOrganizations((tx) => this.contacts.followAll(tx, states));
  }

  @OnEvent('core.contact.purged.v1')
  async followPurges(events: DomainEvent<'core.contact.purged.v1'>[]): Promise<void> {
    await this.byOrganization(events, (tx, own) =>
      this.contacts.follow(
        tx,
        own.map(({ data }) => ({
          id: data.contact_id,
          state: 'purged',
          mergedInto: null,
          version: data.version,
        })),
      ),
    );
  }

  /** The ledger keeps what was earned and spent, without whose it was (loyalty.md §5). */
  @OnEvent('core.erasure.requested.v1')
  erase(requests: ErasureRequested[]): Promise<void> {
    return this.erasures.perform(requests, async (tx, contactId) => {
      await this.contacts.forget(tx, [contactId]);
      return { transactions: await eraseSubjects(tx, contactId, this.clock.now()) };
    });
  }

  /** Core has erased the contact, too: nothing is earned and nothing re-creates it. */
  @OnEvent('core.contact.erased.v1')
  async followErasures(events: DomainEvent<'core.contact.erased.v1'>[]): Promise<void> {
    await this.byOrganization(events, (tx, own) =>
      this.contacts.forget(
        tx,
        own.map(({ data }) => data.contact_id),
      ),
    );
  }

  @OnEvent(['core.contact.merged.v1', 'core.contact.unmerged.v1'])
  async followMerges(events: ContactsMerged[]): Promise<void> {
    await this.byOrganization(events, async (tx, own) => {
      // One after the other: within a run a merge and its undo may both stand.
      for (const event of own) {
        await this.contacts.follow(tx, statesOfMerge(event));
        await moveSubjects(tx, this.contacts, [event.data.survivor_id, event.data.merged_id]);
      }
    });
  }

  @OnEvent('core.event.recorded.v1', { failed: 'giveUp' })
  async earn(events: DomainEvent<'core.event.recorded.v1'>[]): Promise<void> {
    await this.earnAll(
      events.map((event) => ({
        organizationId: event.organizationid,
        event: event.data,
        correlationId: event.correlationid,
        causationId: event.id,
      })),
    );
  }

  /** A dead letter of this stage is tried again: nothing but this stage runs, and what has earned earns nothing more. */
  @OnEvent('core.dead_letter.replayed.v1', { failed: 'giveUp' })
  async earnAgain(events: DomainEvent<'core.dead_letter.replayed.v1'>[]): Promise<void> {
    const own = events.filter(({ data }) => data.stage === 'loyalty');
    await this.earnAll(
      own.flatMap(({ id, organizationid, correlationid, data }): ToEvaluate[] =>
        data.recorded
          ? [
              {
                organizationId: organizationid,
                event: data.recorded,
                correlationId: correlationid,
                causationId: id,
              },
            ]
          : [],
      ),
    );
  }

  private earnAll(events: readonly ToEvaluate[]): Promise<void> {
    return this.database.acrossOrganizations((tx) => this.earning.earn(tx, events));
  }

  /** After its tries an event becomes a dead letter of core; later events of the contact go on. */
  async giveUp(event: Evaluable, { error, attempts }: EventFailure): Promise<void> {
    const recorded = event.type === 'core.event.recorded.v1' ? event.data : event.data.recorded;
    if (!recorded) return;
    log.error({ err: error, event_id: recorded.event_id, attempts }, 'the rules could not be applied');
    await this.database.inOrganization({ organizationId: event.organizationid }, (tx) =>
      this.outbox.append(tx, {
        type: 'loyalty.evaluation.failed.v1',
        organizationId: event.organizationid,
        key: recorded.contact_id,
        subject: `events/${recorded.event_id}`,
        correlationId: event.correlationid,
        causationId: event.id,
        data: {
          event_id: recorded.event_id,
          contact_id: recorded.contact_id,
          code: isOutOfRange(error) ? 'points_out_of_range' : 'evaluation_failed',
          attempts,
        },
      }),
    );
  }

  private async byOrganization<E extends DomainEvent>(
    events: readonly E[],
    work: (tx: Transaction, own: E[]) => Promise<void>,
  ): Promise<void> {
    await this.database.forEachOrganization(events, ({ organizationid }) => organizationid, work);
  }
}

/** By a formula alone, or with what the contact has already: the database refuses a sum that is not exact in JSON. */
function isOutOfRange(error: unknown): boolean {
  return error instanceof PointsOutOfRange || postgresFailure(error)?.constraint === 'balances_points_exact';
}

/** An erased contact stays away like a deleted one until its erasure comes; a merged one is told of by its merge. */
function statesOf({ data: { contact, contact_id: id, version } }: ContactChanged): ContactState[] {
  if (contact.state === 'merged') return [];
  return [{ id, state: contact.state === 'active' ? 'active' : 'deleted', mergedInto: null, version }];
}

function statesOfMerge({ type, data }: ContactsMerged): ContactState[] {
  const { survivor_id: survivor, merged_id: merged, survivor_version, merged_version } = data;
  const together = type === 'core.contact.merged.v1';
  return [
    { id: survivor, state: 'active', mergedInto: null, version: survivor_version },
    {
      id: merged,
      state: together ? 'merged' : 'active',
      mergedInto: together ? survivor : null,
      version: merged_version,
    },
  ];
}
