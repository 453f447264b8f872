import { Controller } from '@nestjs/common';
import {
  CONTACT_EVENTS,
  ContactFollower,
  ContactRefs,
  ContactRowsRegistry,
  type ContactEvent,
} from '@customer-platform/contact-refs';
import { Clock, Database, postgresFailure } from '@customer-platform/database';
import { type EventFailure, OnEvent, Outbox } from '@customer-platform/event-bus';
import { type ErasureRequested, Erasures } from '@customer-platform/erasure';
import type { DomainEvent } from '@customer-platform/events';
import { log } from '@customer-platform/http';
import { EarningService, type ToEvaluate } from './earning/earning.service.js';
import { PointsOutOfRange } from './earning/points.js';
import { eraseSubjects } from './ledger/erase-subjects.js';
import { SUBJECT_ROWS } from './ledger/subject-rows.js';

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
    private readonly clock: Clock,
    contactRows: ContactRowsRegistry,
  ) {
    contactRows.add(SUBJECT_ROWS);
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
      family: (tx, contactId) => this.contacts.withMerged(tx, contactId),
      erase: async (tx, contactId) => {
        await this.contacts.erase(tx, [contactId]);
        return { transactions: await eraseSubjects(tx, contactId, this.clock) };
      },
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
}

/** By a formula alone, or with what the contact has already: the database refuses a sum that is not exact in JSON. */
function isOutOfRange(error: unknown): boolean {
  return error instanceof PointsOutOfRange || postgresFailure(error)?.constraint === 'balances_points_exact';
}
