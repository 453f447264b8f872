import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Clock, Database, isAway, isTransient } from '@customer-platform/database';
import { ItemBackoff, PollingJob } from '@customer-platform/http';
import { ClaimsApart } from '../../background/jobs/claims-apart.js';
import { MESSAGING_CONFIG, type MessagingConfig } from '../../vocabulary/config/messaging.config.js';
import { ProviderReports, textOf } from './provider-reports.service.js';
import type { ReportKey } from './report-row.js';
import { ReportsRepository } from './reports.repository.js';

const EVERY_MS = 1_000;
const MOST_AT_ONCE = 500;
/** Reports of an organization that one after another run into a time limit alone: then the others' turn comes. */
const MOST_TIME_OUTS = 2;

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
  private readonly claims: ClaimsApart<string>;
  private readonly backoff: ItemBackoff;

  constructor(
    @Inject(MESSAGING_CONFIG) private readonly config: MessagingConfig,
    private readonly database: Database,
    private readonly repository: ReportsRepository,
    private readonly reports: ProviderReports,
    private readonly clock: Clock,
  ) {
    this.claims = new ClaimsApart('provider-report-claims', clock, (id: string) => id);
    this.backoff = new ItemBackoff('provider-reports', clock);
  }

  onApplicationBootstrap(): void {
    if (this.config.worker) this.looking.start();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.looking.stop();
  }

  /** Applies what is due. */
  async run(): Promise<boolean> {
    const now = this.clock.now();
    let any = false;
    for (let taken = MOST_AT_ONCE; taken === MOST_AT_ONCE && !this.looking.stopping;) {
      const due = await this.take(now);
      await this.apart(due);
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

  /**
   * Does it for all at once, and where that fails for each organization by itself, in halves, until those at fault stand
   * alone: they are left as they are and counted, and the next pass that finds them tries them again, after the others.
   * @throws what lies in none of them
   */
  private async apart(keys: readonly ReportKey[]): Promise<void> {
    if (keys.length === 0 || (await this.isDone(keys))) return;
    for (const own of Map.groupBy(keys, (key) => key.organization_id).values()) {
      const inTurn = own.toSorted(
        (a, b) => this.backoff.attempts(textOf(a)) - this.backoff.attempts(textOf(b)),
      );
      await this.inHalves(inTurn, { timeOuts: 0 });
    }
  }

  private async inHalves(keys: readonly ReportKey[], turn: Turn): Promise<void> {
    if (turn.timeOuts >= MOST_TIME_OUTS || this.looking.stopping) return;
    if (await this.isDone(keys, turn)) return;
    const middle = keys.length >> 1;
    if (middle === 0) return;
    await this.inHalves(keys.slice(0, middle), turn);
    await this.inHalves(keys.slice(middle), turn);
  }

  /** @returns false where it failed: one alone is at fault, and is counted */
  private async isDone(keys: readonly ReportKey[], turn?: Turn): Promise<boolean> {
    try {
      await this.reports.apply(keys);
      for (const key of keys) this.backoff.passed(textOf(key));
      if (turn) turn.timeOuts = 0;
      return true;
    } catch (error) {
      if (isAway(error)) throw error;
      const [first] = keys;
      if (keys.length > 1 || !first || !turn) return false;
      this.backoff.failed(textOf(first), error);
      // Time, memory or a lock that others hold.
      if (isTransient(error)) turn.timeOuts += 1;
      return false;
    }
  }
}
