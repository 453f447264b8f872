import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Clock, Database, isTransient, ranOut } from '@customer-platform/database';
import { isInfrastructureError } from '@customer-platform/event-bus';
import { ItemBackoff, PollingJob } from '@customer-platform/http';
import { MESSAGING_CONFIG, type MessagingConfig } from '../messaging.config.js';
import { ProviderReports, textOf } from './provider-reports.service.js';
import { UsedTokens } from './used-tokens.js';
import type { ReportKey } from './report-row.js';
import { ReportsRepository, type ReportAges } from './reports.repository.js';

const EVERY_MS = 1_000;
const MOST_AT_ONCE = 500;
const HOUR = 3_600_000;
/** How long a report waits for its send (messaging.md §7). */
const UNKNOWN_MS = 72 * HOUR;
/** Far longer than any provider repeats a report. */
const APPLIED_MS = 90 * 24 * HOUR;
const FORGET_EVERY_MS = HOUR;
const FORGOTTEN_AT_ONCE = 1_000;

/** Looks again at reports whose send was not known, or still in a dispatcher's hands. */
@Injectable()
export class ReportSweep implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly looking = new PollingJob({
    name: 'provider-reports',
    takes: 'rows of provider_reports',
    everyMs: EVERY_MS,
    pass: () => this.run(),
  });
  private readonly forgetting = new PollingJob({
    name: 'provider-report-retention',
    takes: 'rows of provider_reports',
    everyMs: FORGET_EVERY_MS,
    pass: () => this.forget(this.clock.now()),
  });
  private readonly unapplied: ItemBackoff;
  private readonly unforgotten: ItemBackoff;

  constructor(
    @Inject(MESSAGING_CONFIG) private readonly config: MessagingConfig,
    private readonly database: Database,
    private readonly repository: ReportsRepository,
    private readonly reports: ProviderReports,
    private readonly clock: Clock,
    private readonly tokens: UsedTokens,
  ) {
    this.unapplied = new ItemBackoff('provider-reports', clock);
    this.unforgotten = new ItemBackoff('provider-report-retention', clock, 2 * FORGET_EVERY_MS);
  }

  onApplicationBootstrap(): void {
    if (!this.config.worker) return;
    this.looking.start();
    this.forgetting.start();
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all([this.looking.stop(), this.forgetting.stop()]);
  }

  /** Applies what is due. */
  async run(): Promise<boolean> {
    const now = this.clock.now();
    let any = false;
    for (let taken = MOST_AT_ONCE; taken === MOST_AT_ONCE && !this.looking.stopping;) {
      const due = await this.database.acrossOrganizations((tx) =>
        this.repository.takeDue(tx, now, MOST_AT_ONCE),
      );
      await this.apart(due, (some) => this.reports.apply(some), this.unapplied);
      taken = due.length;
      any ||= taken > 0;
    }
    return any;
  }

  /** Deletes, in small steps, reports whose send never came, and those that nobody repeats any more. */
  async forget(now: Date): Promise<void> {
    await this.forgetting.drain(() => this.tokens.forgetSome(now));
    const before = (milliseconds: number): Date => new Date(now.getTime() - milliseconds);
    const ages = { unknownBefore: before(UNKNOWN_MS), appliedBefore: before(APPLIED_MS) };
    try {
      for (let left = true; left && !this.forgetting.stopping;)
        left = await this.database.acrossOrganizations((tx) =>
          this.repository.forgetSome(tx, ages.unknownBefore, ages.appliedBefore),
        );
    } catch (error) {
      if (isAway(error)) throw error;
      await this.forgetWhatCanBe(ages);
    }
  }

  /** One of a step cannot be forgotten: goes through all by their keys, and leaves those at fault. */
  private async forgetWhatCanBe(ages: ReportAges): Promise<void> {
    const remove = (some: readonly ReportKey[]): Promise<void> =>
      this.database.acrossOrganizations((tx) => this.repository.forget(tx, ages, some));
    let after: ReportKey | undefined;
    do {
      const from = after;
      const old = await this.database.acrossOrganizations((tx) =>
        this.repository.forgettable(tx, ages, from, FORGOTTEN_AT_ONCE),
      );
      await this.apart(old, remove, this.unforgotten);
      after = old.at(-1);
    } while (after && !this.forgetting.stopping);
  }

  /**
   * Does it for all at once, and where that fails in halves, until those at fault stand alone: they are left as they
   * are and counted, and the next pass that finds them tries them again.
   * @throws what lies in none of them
   */
  private async apart(
    keys: readonly ReportKey[],
    work: (keys: readonly ReportKey[]) => Promise<void>,
    backoff: ItemBackoff,
  ): Promise<void> {
    const [first] = keys;
    if (!first) return;
    try {
      await work(keys);
      for (const key of keys) backoff.passed(textOf(key));
    } catch (error) {
      if (isAway(error)) throw error;
      if (keys.length === 1) {
        backoff.failed(textOf(first), error);
        return;
      }
      const middle = keys.length >> 1;
      await this.apart(keys.slice(0, middle), work, backoff);
      await this.apart(keys.slice(middle), work, backoff);
    }
  }
}

/** The others would meet the same. What ran out of time or memory may be one row's doing, however often. */
function isAway(error: unknown): boolean {
  return (isTransient(error) || isInfrastructureError(error)) && !ranOut(error);
}
