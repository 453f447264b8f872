import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Clock, Database, PollingJob, type WorkerTransaction } from '@customer-platform/database';
import { log } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import { ContactRefresh } from '../contacts/contact-refresh.js';
import { MESSAGING_CONFIG, type MessagingConfig } from '../messaging.config.js';
import { EventWaits, type WaitingRef } from './event-waits.repository.js';
import { Router } from './router.js';

const EVERY_MS = 1_000;

/**
 * Routes events whose contact has come since, and ends those whose contact has not within 15 minutes. Core is asked
 * as well: its events of a contact from long ago come no more.
 */
@Injectable()
export class WaitingEvents implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly looking = new PollingJob({
    name: 'waiting-events',
    everyMs: EVERY_MS,
    pass: () => this.run(),
  });

  constructor(
    @Inject(MESSAGING_CONFIG) private readonly config: MessagingConfig,
    private readonly database: Database,
    private readonly waits: EventWaits,
    private readonly router: Router,
    private readonly refresh: ContactRefresh,
    private readonly clock: Clock,
  ) {}

  onApplicationBootstrap(): void {
    if (!this.config.worker) return;
    this.waits.listen(() => this.looking.wake());
    this.looking.start();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.looking.stop();
  }

  /** Looks at some that are due, and then again while there are. */
  private async run(): Promise<void> {
    const due = await this.database.acrossOrganizations((tx) => this.waits.take(tx, this.clock.now()));
    for (const [organizationId, refs] of Map.groupBy(due, (ref) => ref.organization_id))
      await this.look(organizationId, refs);
    if (due.length > 0) this.looking.wake();
  }

  /** What fails is looked at again later, and is the only one that waits for that. */
  private async look(organizationId: string, refs: readonly WaitingRef[]): Promise<void> {
    try {
      await this.askCore(organizationId, refs);
      await this.database.acrossOrganizations((tx) => this.route(tx, organizationId, refs));
    } catch (error) {
      const count = refs.length;
      if (count === 1) log.error({ err: error }, 'An event that waited could not be routed; trying again');
      else for (const ref of refs) await this.look(organizationId, [ref]);
    }
  }

  private async askCore(organizationId: string, refs: readonly WaitingRef[]): Promise<void> {
    try {
      await this.refresh.unknown(organizationId, [...new Set(refs.map((ref) => ref.contact_id))]);
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== 'dependency_unavailable') throw error;
      log.warn({ err: error }, 'Core does not answer; events wait for its own of their contacts');
    }
  }

  private async route(
    tx: WorkerTransaction,
    organizationId: string,
    refs: readonly WaitingRef[],
  ): Promise<void> {
    const waiting = await this.waits.lock(
      tx,
      organizationId,
      refs.map((ref) => ref.event_id),
    );
    const now = this.clock.now();
    const over = new Set(waiting.filter(({ until }) => until <= now).map(({ event }) => event.id));
    const settled = await this.router.routeWaiting(
      tx,
      waiting.map(({ event }) => event),
      over,
    );
    await this.waits.remove(tx, organizationId, settled);
  }
}
