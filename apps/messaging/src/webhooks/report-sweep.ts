import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Clock, Database } from '@customer-platform/database';
import { log } from '@customer-platform/http';
import { MESSAGING_CONFIG, type MessagingConfig } from '../messaging.config.js';
import { ProviderReports } from './provider-reports.service.js';
import { ReportsRepository } from './reports.repository.js';

const EVERY_MS = 1_000;
const MOST_AT_ONCE = 500;
const HOUR = 3_600_000;
/** How long a report waits for its send (messaging.md §7). */
const UNKNOWN_MS = 72 * HOUR;
/** Far longer than any provider repeats a report. */
const APPLIED_MS = 90 * 24 * HOUR;
const FORGET_EVERY_MS = HOUR;

/** Looks again at reports whose send was not known, or still in a dispatcher's hands. */
@Injectable()
export class ReportSweep implements OnApplicationBootstrap, OnApplicationShutdown {
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> | undefined;
  private forgotAt = 0;
  private stopping = false;

  constructor(
    @Inject(MESSAGING_CONFIG) private readonly config: MessagingConfig,
    private readonly database: Database,
    private readonly repository: ReportsRepository,
    private readonly reports: ProviderReports,
    private readonly clock: Clock,
  ) {}

  onApplicationBootstrap(): void {
    if (!this.config.worker) return;
    this.timer = setInterval(() => {
      this.running ??= this.run()
        .catch((error: unknown) => log.warn({ err: error }, 'Reports could not be looked at; trying again'))
        .finally(() => (this.running = undefined));
    }, EVERY_MS);
    this.timer.unref();
  }

  async onApplicationShutdown(): Promise<void> {
    this.stopping = true;
    clearInterval(this.timer);
    await this.running;
  }

  /** Applies what is due; now and then, forgets what nobody will ask for. */
  async run(): Promise<void> {
    const now = this.clock.now();
    for (let taken = MOST_AT_ONCE; taken === MOST_AT_ONCE;) {
      const due = await this.database.acrossOrganizations((tx) =>
        this.repository.takeDue(tx, now, MOST_AT_ONCE),
      );
      await this.reports.apply(due);
      taken = due.length;
    }
    if (now.getTime() - this.forgotAt < FORGET_EVERY_MS) return;
    this.forgotAt = now.getTime();
    await this.forget(now);
  }

  /** Deletes, in small steps, reports whose send never came, and those that nobody repeats any more. */
  async forget(now: Date): Promise<void> {
    const before = (milliseconds: number): Date => new Date(now.getTime() - milliseconds);
    for (let left = true; left && !this.stopping;)
      left = await this.database.acrossOrganizations((tx) =>
        this.repository.forgetSome(tx, before(UNKNOWN_MS), before(APPLIED_MS)),
      );
  }
}
