import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Clock, Database, isTransient, ranOut } from '@customer-platform/database';
import { isInfrastructureError } from '@customer-platform/event-bus';
import { ItemBackoff, PollingJob } from '@customer-platform/http';
import { ClaimsApart } from '../jobs/claims-apart.js';
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
/** Reports of an organization that one after another run into a time limit alone: then the others' turn comes. */
const MOST_TIME_OUTS = 2;

/** Work on reports, and what is known of those at which it fails. */
interface Work {
  readonly backoff: ItemBackoff;
  run(keys: readonly ReportKey[]): Promise<void>;
}

/** An organization's turn. */
interface Turn {
  /** The number in a row that have run into a time limit alone. */
  timeOuts: number;
}

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
  private readonly claims: ClaimsApart<string>;
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
    this.claims = new ClaimsApart('provider-report-claims', clock, (id: string) => id);
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
      const due = await this.take(now);
      await this.apart(due, { run: (some) => this.reports.apply(some), backoff: this.unapplied });
      taken = due.length;
      any ||= taken > 0;
    }
    return any;
  }

  /** Takes up those of all organizations at once, and where that fails those of some. */
  private async take(now: Date): Promise<readonly ReportKey[]> {
    const without = this.claims.waiting();
    const take = (of: readonly string[] | null): Promise<ReportKey[]> =>
      this.database.acrossOrganizations((tx) =>
        this.repository.takeDue(tx, now, MOST_AT_ONCE, { of, without }),
      );
    if (!this.claims.doubts) {
      try {
        const taken = await take(null);
        this.claims.passed(taken.map((key) => key.organization_id));
        return taken;
      } catch (error) {
        if (isAway(error)) throw error;
      }
    }
    const owners = await this.database.acrossOrganizations((tx) => this.repository.ownersOfDue(tx, now));
    this.claims.doubtOnly(owners);
    return this.claims.take(owners, take);
  }

  /** Deletes, in small steps, reports whose send never came, and those that nobody repeats any more. */
  async forget(now: Date): Promise<void> {
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
    // Last: one that cannot be forgotten ends the pass.
    await this.forgetting.drain(() => this.tokens.forgetSome(now));
  }

  /** One of a step cannot be forgotten: goes through all by their keys, and leaves those at fault. */
  private async forgetWhatCanBe(ages: ReportAges): Promise<void> {
    const run = (some: readonly ReportKey[]): Promise<void> =>
      this.database.acrossOrganizations((tx) => this.repository.forget(tx, ages, some));
    const work = { run, backoff: this.unforgotten };
    let after: ReportKey | undefined;
    do {
      const from = after;
      const old = await this.database.acrossOrganizations((tx) =>
        this.repository.forgettable(tx, ages, from, FORGOTTEN_AT_ONCE),
      );
      await this.apart(old, work);
      after = old.at(-1);
    } while (after && !this.forgetting.stopping);
  }

  /**
   * Does it for all at once, and where that fails for each organization by itself, in halves, until those at fault stand
   * alone: they are left as they are and counted, and the next pass that finds them tries them again, after the others.
   * @throws what lies in none of them
   */
  private async apart(keys: readonly ReportKey[], work: Work): Promise<void> {
    if (keys.length === 0 || (await this.isDone(keys, work))) return;
    for (const own of Map.groupBy(keys, (key) => key.organization_id).values()) {
      const inTurn = own.toSorted(
        (a, b) => work.backoff.attempts(textOf(a)) - work.backoff.attempts(textOf(b)),
      );
      await this.inHalves(inTurn, work, { timeOuts: 0 });
    }
  }

  private async inHalves(keys: readonly ReportKey[], work: Work, turn: Turn): Promise<void> {
    if (turn.timeOuts >= MOST_TIME_OUTS || this.looking.stopping) return;
    if (await this.isDone(keys, work, turn)) return;
    const middle = keys.length >> 1;
    if (middle === 0) return;
    await this.inHalves(keys.slice(0, middle), work, turn);
    await this.inHalves(keys.slice(middle), work, turn);
  }

  /** @returns false where it failed: one alone is at fault, and is counted */
  private async isDone(keys: readonly ReportKey[], work: Work, turn?: Turn): Promise<boolean> {
    try {
      await work.run(keys);
      for (const key of keys) work.backoff.passed(textOf(key));
      if (turn) turn.timeOuts = 0;
      return true;
    } catch (error) {
      if (isAway(error)) throw error;
      const [first] = keys;
      if (keys.length > 1 || !first || !turn) return false;
      work.backoff.failed(textOf(first), error);
      if (ranOut(error)) turn.timeOuts += 1;
      return false;
    }
  }
}

/** The others would meet the same. What ran out of time or memory may be one row's doing, however often. */
function isAway(error: unknown): boolean {
  return (isTransient(error) || isInfrastructureError(error)) && !ranOut(error);
}
