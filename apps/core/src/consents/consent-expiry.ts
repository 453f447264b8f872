import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { readConfig, serviceConfig } from '@customer-platform/config';
import { Clock, Database, isTransient, type WorkerTransaction } from '@customer-platform/database';
import { Outbox } from '@customer-platform/event-bus';
import { PollingJob, Setbacks } from '@customer-platform/http';
import { ContactLookup } from '../contacts/contact-lookup.js';
import { ConsentsRepository } from './consents.repository.js';

/** As metrics and log lines call it. */
const JOB = 'consent-expiry';
const LOOK_EVERY_MS = 500;

const NEXT = `
  SELECT organization_id, event_id, contact_id, expires_at FROM consent_expirations
   WHERE expires_at <= $1 AND event_id <> ALL($2::uuid[]) ORDER BY expires_at LIMIT 1 FOR UPDATE SKIP LOCKED`;

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
export class ConsentExpiry implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly job = new PollingJob({ name: JOB, everyMs: LOOK_EVERY_MS, pass: () => this.runAll() });
  private readonly setbacks: Setbacks;

  constructor(
    private readonly database: Database,
    private readonly contacts: ContactLookup,
    private readonly consents: ConsentsRepository,
    private readonly outbox: Outbox,
    private readonly clock: Clock,
  ) {
    this.setbacks = new Setbacks(JOB, clock);
  }

  onApplicationBootstrap(): void {
    if (readConfig(serviceConfig).PROCESS_ROLE === 'api') return;
    this.job.start();
  }

  async onModuleDestroy(): Promise<void> {
    await this.job.stop();
  }

  /** Tells of all whose time has come. */
  async runAll(): Promise<boolean> {
    return this.job.drain(() => this.runNext());
  }

  /** Whether there was one. One that fails is left queued, and the next is taken. */
  private async runNext(): Promise<boolean> {
    let ending: Ending | undefined;
    try {
      await this.database.acrossOrganizations(async (tx) => {
        const now = this.clock.now();
        [ending] = await tx.query<Ending>(NEXT, [now, this.setbacks.waiting()]);
        if (!ending) return;
        await tx.useOrganization(ending.organization_id);
        await this.tell(tx, ending, now);
        await tx.query(DONE, [ending.organization_id, ending.event_id]);
      });
      if (ending) this.setbacks.passed(ending.event_id);
      this.job.progressed();
    } catch (error) {
      if (ending) this.setbacks.failed(ending.event_id, error);
      if (!ending || isTransient(error)) throw error;
    }
    return ending !== undefined;
  }

  /** Nothing is told when something else has decided the pair meanwhile, or the contact is no more. */
  private async tell(tx: WorkerTransaction, ending: Ending, now: Date): Promise<void> {
    const { organization_id: organizationId, event_id: eventId } = ending;
    const subject = await this.contacts.lockHolder(tx, ending.contact_id);
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
