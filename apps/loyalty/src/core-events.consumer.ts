import { Controller } from '@nestjs/common';
import {
  CONTACT_EVENTS,
  ContactFollower,
  ContactRefs,
  ContactRowsRegistry,
  type ContactEvent,
} from '@customer-platform/contact-refs';
import { Clock, Database, isTransient, postgresFailure, type Transaction } from '@customer-platform/database';
import { type EventFailure, OnEvent, Outbox } from '@customer-platform/event-bus';
import { type ErasureRequested, Erasures } from '@customer-platform/erasure';
import type { DomainEvent } from '@customer-platform/events';
import { log } from '@customer-platform/http';
import { EarningService, type ToEvaluate } from './earning/earning.service.js';
import { PointsOutOfRange } from './earning/points.js';
import { originsOf } from './ledger/erase-subjects.js';
import { subjectRows } from './ledger/subject-rows.js';

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
    private readonly follower: ContactFollower,
    private readonly earning: EarningService,
    private readonly outbox: Outbox,
    private readonly erasures: Erasures,
    clock: Clock,
    contactRows: ContactRowsRegistry,
  ) {
    contactRows.add(subjectRows(clock));
  }

  /** What a contact that is gone has earned stays until its erasure is asked for; from here on it earns nothing more. */
  @OnEvent(CONTACT_EVENTS)
  followContacts(events: DomainEvent<ContactEvent>[]): Promise<void> {
    return this.follower.follow(events);
  }

  /** The ledger keeps what was earned and spent, without whose it was (loyalty.md §5). */
  @OnEvent('core.erasure.requested.v1')
  erase(requests: ErasureRequested[]): Promise<void> {
    return this.erasures.perform(requests, {
      family: async (tx, contactId) => originsOf(tx, await this.contacts.withMerged(tx, contactId)),
      erase: (tx, contactIds) => this.follower.erase(tx, contactIds),
      part: (tx, contactIds) => this.follower.part(tx, contactIds),
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

  private async earnAll(events: readonly ToEvaluate[]): Promise<void> {
    try {
      await this.database.acrossOrganizations((tx) => this.earning.earn(tx, events));
    } catch (error) {
      const [only, ...others] = events;
      // Whoever delivers a run that fails delivers its events one by one.
      if (only === undefined || others.length > 0 || isTransient(error)) throw error;
      await this.earnApart(only);
    }
  }

  /** A rule that fails takes no other rule's points with it, and is told by itself. */
  private earnApart(each: ToEvaluate): Promise<void> {
    return this.database.acrossOrganizations(async (tx) => {
      const failures = await this.earning.earnApart(tx, each);
      for (const failure of failures) await this.tellFailure(tx, each, { ...failure, attempts: 1 });
    });
  }

  /** After its tries an event becomes a dead letter of core; later events of the contact go on. */
  async giveUp(event: Evaluable, failure: EventFailure): Promise<void> {
    const recorded = event.type === 'core.event.recorded.v1' ? event.data : event.data.recorded;
    if (!recorded) return;
    const { organizationid: organizationId, correlationid: correlationId, id: causationId } = event;
    await this.database.inOrganization({ organizationId }, (tx) =>
      this.tellFailure(tx, { organizationId, event: recorded, correlationId, causationId }, failure),
    );
  }

  private async tellFailure(
    tx: Transaction,
    { organizationId, event, correlationId, causationId }: ToEvaluate,
    { error, attempts, ruleId }: EventFailure & { ruleId?: string },
  ): Promise<void> {
    const { event_id: eventId, contact_id: contactId } = event;
    log.error({ err: error, event_id: eventId, rule_id: ruleId, attempts }, 'the rules could not be applied');
    await this.outbox.append(tx, {
      type: 'loyalty.evaluation.failed.v1',
      organizationId,
      key: contactId,
      subject: `events/${eventId}`,
      correlationId,
      causationId,
      data: {
        event_id: eventId,
        contact_id: contactId,
        code: isOutOfRange(error) ? 'points_out_of_range' : 'evaluation_failed',
        attempts,
        ...(ruleId === undefined ? {} : { rule_id: ruleId }),
      },
    });
  }
}

/** By a formula alone, or with what the contact has already: the database refuses a sum that is not exact in JSON. */
function isOutOfRange(error: unknown): boolean {
  return error instanceof PointsOutOfRange || postgresFailure(error)?.constraint === 'balances_points_exact';
}
