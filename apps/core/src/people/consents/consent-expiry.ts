import { Injectable } from '@nestjs/common';
import { Tenants } from '@customer-platform/authorization';
import { afterLocks, Clock, Database, ItemJob, type WorkerTransaction } from '@customer-platform/database';
import { Outbox } from '@customer-platform/event-bus';
import { ContactLookup } from '../contacts/contact-lookup.js';
import { ConsentsRepository } from './consents.repository.js';

/** Its name in metrics and log lines. */
const JOB = 'consent-expiry';
const LOOK_EVERY_MS = 500;

/** Walks from the soonest of one organization to that of the next, however many are due. */
export const OWNERS = `
  WITH RECURSIVE soonest AS (
    (SELECT organization_id, expires_at FROM consent_expirations WHERE event_id <> ALL($2::uuid[])
      ORDER BY organization_id, expires_at LIMIT 1)
    UNION ALL
    SELECT next.organization_id, next.expires_at FROM soonest, LATERAL (
      SELECT organization_id, expires_at FROM consent_expirations
       WHERE organization_id > soonest.organization_id AND event_id <> ALL($2::uuid[])
       ORDER BY organization_id, expires_at LIMIT 1) AS next)
  SELECT organization_id FROM soonest WHERE expires_at <= $1 ORDER BY expires_at`;
/** No index by time alone has this order: it has everybody's. */
export const NEXT = `
  SELECT ending.* FROM unnest($1::uuid[]) AS turn (organization_id), LATERAL (
    SELECT organization_id, event_id, contact_id, expires_at FROM consent_expirations
     WHERE organization_id BETWEEN turn.organization_id AND turn.organization_id AND expires_at <= $2
       AND event_id <> ALL($3::uuid[])
     ORDER BY organization_id, expires_at LIMIT 1 FOR UPDATE SKIP LOCKED) AS ending
   LIMIT 1`;

const DONE = `DELETE FROM consent_expirations WHERE organization_id = $1 AND event_id = $2`;

const EVENT = `
  SELECT purpose, channel, correlation_id FROM consent_events WHERE organization_id = $1 AND id = $2`;

interface Ending {
  organization_id: string;
  event_id: string;
  contact_id: string;
  expires_at: Date;
}

/**
 * Tells of grants that end by themselves, at their time. What holds follows from the clock and needs no job; those
 * who only hear of changes do. Runs where PROCESS_ROLE is not api.
 */
@Injectable()
export class ConsentExpiry extends ItemJob<Ending> {
  constructor(
    database: Database,
    private readonly contacts: ContactLookup,
    private readonly consents: ConsentsRepository,
    private readonly outbox: Outbox,
    private readonly clock: Clock,
    tenants: Tenants,
  ) {
    super(
      { name: JOB, takes: 'rows of consent_expirations', everyMs: LOOK_EVERY_MS },
      database,
      clock,
      tenants,
    );
  }

  protected owners(
    tx: WorkerTransaction,
    waiting: readonly string[],
  ): Promise<Pick<Ending, 'organization_id'>[]> {
    return tx.query(OWNERS, [this.clock.now(), waiting]);
  }

  protected async next(
    tx: WorkerTransaction,
    organizationIds: readonly string[],
    waiting: readonly string[],
  ): Promise<Ending | undefined> {
    const [ending] = await tx.query<Ending>(NEXT, [organizationIds, this.clock.now(), waiting]);
    return ending;
  }

  protected async work(tx: WorkerTransaction, ending: Ending): Promise<void> {
    await this.tell(tx, ending);
    await tx.query(DONE, [ending.organization_id, ending.event_id]);
  }

  protected nameOf(ending: Ending): string {
    return ending.event_id;
  }

  /** Nothing is told when something else has decided the pair meanwhile, or the contact is no more. */
  private async tell(tx: WorkerTransaction, ending: Ending): Promise<void> {
    const { organization_id: organizationId, event_id: eventId } = ending;
    // What was said while the contact was waited for decides, too.
    const [subject, now] = await afterLocks(this.clock, this.contacts.lockHolder(tx, ending.contact_id));
    const [event] = await tx.query<{ purpose: string; channel: string | null; correlation_id: string }>(
      EVENT,
      [organizationId, eventId],
    );
    if (!subject || !event) return;
    const pair = { purpose: event.purpose, channel: event.channel };
    const state = await this.consents.stateOf(tx, subject.ids, pair, now);
    if (state?.event_id !== eventId || state.status !== 'expired') return;
    await this.outbox.append(tx, {
      type: 'core.consent.expired.v1',
      organizationId,
      key: subject.contactId,
      subject: `contacts/${subject.contactId}`,
      correlationId: event.correlation_id,
      // As every state is told: at the time of the event that decides, so that a later one always wins over it.
      time: state.occurred_at.toISOString(),
      data: { contact_id: subject.contactId, ...pair, status: 'expired', previous: 'granted' },
    });
  }
}
