import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { readConfig, serviceConfig } from '@customer-platform/config';
import { systemActor } from '@customer-platform/audit';
import { Clock, Database, newId, type RetentionOptions, type Transaction } from '@customer-platform/database';
import { log, PollingJob } from '@customer-platform/http';
import { SessionEndings } from './session-endings.js';

const EVERY_MS = 60_000;
/** Ended at once, so that no transaction is long. */
const MOST_AT_ONCE = 500;

/** Sessions are kept for 90 days after their end (identity.md §5). */
export const ENDED_SESSIONS: RetentionOptions = {
  name: 'session-retention',
  table: 'sessions',
  where: 'old.ended_at < $1',
  oldestBy: 'ended_at',
  keptMs: 90 * 86_400_000,
};

/** What has ended, of which nobody has written it down. `$1` is an organization, `$2` the time where it matters. */
interface Ending {
  /** As `s`. */
  readonly table: 'sessions' | 'impersonations';
  readonly where: string;
  /** SQL over `s`. */
  readonly reason: string;
  readonly byTime: boolean;
}

const BY_TIME: Ending = {
  table: 'sessions',
  where: 's.ended_at IS NULL AND least(s.idle_expires_at, s.expires_at) <= $2',
  reason: `CASE WHEN s.expires_at <= s.idle_expires_at THEN 'absolute' ELSE 'idle' END`,
  byTime: true,
};

/** Their client is gone, has had another secret since, or serves them no more: they are refused already. */
const WITH_CLIENT: Ending = {
  table: 'sessions',
  where: `s.client_id IS NOT NULL AND s.ended_at IS NULL AND NOT EXISTS (
   SELECT FROM oauth_clients c
    WHERE c.id = s.client_id AND c.generation = s.client_generation AND c.deleted_at IS NULL
      AND (c.organizations = 'tree' OR c.organization_id = s.organization_id))`,
  reason: `'revoked'`,
  byTime: false,
};

const IMPERSONATIONS: Ending = {
  table: 'impersonations',
  where: 's.ended_at IS NULL AND s.expires_at <= $2',
  reason: `'absolute'`,
  byTime: true,
};

/** The organizations that have any, a page of them at a time. */
const organizationsWith = ({ table, where }: Ending): string => `
SELECT DISTINCT s.organization_id FROM ${table} s
 WHERE s.organization_id > $1 AND ${where}
 ORDER BY s.organization_id LIMIT ${String(MOST_AT_ONCE)}`;

const ofOrganization = ({ table, where, reason }: Ending): string => `
SELECT s.id, s.user_id, ${reason} AS reason FROM ${table} s
 WHERE s.organization_id = $1 AND ${where}
 LIMIT ${String(MOST_AT_ONCE)} FOR UPDATE OF s SKIP LOCKED`;

/** Before all organizations. */
const NOBODY = '00000000-0000-0000-0000-000000000000';

interface DueRow {
  id: string;
  user_id: string;
  reason: 'idle' | 'absolute' | 'revoked';
}

/** Writes down, and tells, that sessions and impersonations have ended by time or with their client. */
@Injectable()
export class SessionSweep implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly job = new PollingJob({
    name: 'session-sweep',
    everyMs: EVERY_MS,
    pass: () => this.run(),
  });

  constructor(
    private readonly database: Database,
    private readonly endings: SessionEndings,
    private readonly clock: Clock,
  ) {}

  onApplicationBootstrap(): void {
    if (readConfig(serviceConfig).PROCESS_ROLE === 'api') return;
    this.job.start();
  }

  async onModuleDestroy(): Promise<void> {
    await this.job.stop();
  }

  /** How many it has ended. */
  async run(): Promise<number> {
    let ended = 0;
    for (const ending of [BY_TIME, WITH_CLIENT, IMPERSONATIONS]) ended += await this.endAll(ending);
    return ended;
  }

  /** Writes down what the transaction ends for all of a client's sessions, once it is committed. */
  endSoon(tx: Transaction): void {
    tx.afterCommit(() => {
      this.endAll(WITH_CLIENT).catch((error: unknown) => {
        log.warn({ err: error }, 'Sessions of a client that ended are written down by the next sweep');
      });
    });
  }

  /** Of one organization where it fails the others are ended nevertheless. @throws what failed first */
  private async endAll(ending: Ending): Promise<number> {
    const failures: unknown[] = [];
    let ended = 0;
    for await (const organizationId of this.organizationsWith(ending)) {
      try {
        ended += await this.endAllOf(organizationId, ending);
      } catch (error) {
        failures.push(error);
      }
      this.job.progressed();
    }
    if (failures.length > 0) throw failures[0];
    return ended;
  }

  private async *organizationsWith(ending: Ending): AsyncGenerator<string> {
    for (let last: string | undefined = NOBODY; last !== undefined && !this.job.stopping;) {
      const values = this.values(last, ending);
      const page = await this.database.acrossOrganizations((tx) =>
        tx.query<{ organization_id: string }>(organizationsWith(ending), values),
      );
      for (const { organization_id: organizationId } of page) {
        if (this.job.stopping) return;
        yield organizationId;
      }
      last = page.length === MOST_AT_ONCE ? page.at(-1)?.organization_id : undefined;
    }
  }

  /**
   * Each organization in transactions of its own: an ending locks the organization's epoch until the commit, and whoever
   * holds that of one only can neither deadlock with another sweep nor keep one organization waiting for another.
   */
  private async endAllOf(organizationId: string, ending: Ending): Promise<number> {
    let ended = 0;
    for (let step = MOST_AT_ONCE; step === MOST_AT_ONCE && !this.job.stopping; ended += step) {
      step = await this.endSome(organizationId, ending);
      this.job.progressed();
    }
    return ended;
  }

  private endSome(organizationId: string, ending: Ending): Promise<number> {
    return this.database.acrossOrganizations(async (tx) => {
      const due = await tx.query<DueRow>(ofOrganization(ending), this.values(organizationId, ending));
      for (const { id, user_id: userId, reason } of due) {
        const context = systemActor(organizationId, newId(), 'session-sweep');
        await this.endings.endAll(tx, context, { userId, organizationId, only: id }, reason);
      }
      return due.length;
    });
  }

  private values(organizationId: string, { byTime }: Ending): unknown[] {
    return byTime ? [organizationId, this.clock.now()] : [organizationId];
  }
}
