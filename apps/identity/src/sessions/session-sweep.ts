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
  keptMs: 90 * 86_400_000,
};

const DUE = `
SELECT organization_id, id, user_id, CASE WHEN expires_at <= idle_expires_at THEN 'absolute' ELSE 'idle' END AS reason
  FROM sessions
 WHERE ended_at IS NULL AND least(idle_expires_at, expires_at) <= $1
 LIMIT ${String(MOST_AT_ONCE)} FOR UPDATE SKIP LOCKED`;

/** Their client is gone, has had another secret since, or serves them no more: they are refused already. */
const OF_ENDED_CLIENTS = `
SELECT s.organization_id, s.id, s.user_id, 'revoked' AS reason
  FROM sessions s
 WHERE s.client_id IS NOT NULL AND s.ended_at IS NULL AND NOT EXISTS (
   SELECT FROM oauth_clients c
    WHERE c.id = s.client_id AND c.generation = s.client_generation AND c.deleted_at IS NULL
      AND (c.organizations = 'tree' OR c.organization_id = s.organization_id))
 LIMIT ${String(MOST_AT_ONCE)} FOR UPDATE OF s SKIP LOCKED`;

const DUE_IMPERSONATIONS = `
SELECT organization_id, id, user_id, 'absolute' AS reason
  FROM impersonations
 WHERE ended_at IS NULL AND expires_at <= $1
 LIMIT ${String(MOST_AT_ONCE)} FOR UPDATE SKIP LOCKED`;

interface DueRow {
  organization_id: string;
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
    const now = (): unknown[] => [this.clock.now()];
    const sessions = (await this.endAll(DUE, now)) + (await this.endAll(OF_ENDED_CLIENTS));
    return sessions + (await this.endAll(DUE_IMPERSONATIONS, now));
  }

  /** Writes down what the transaction ends for all of a client's sessions, once it is committed. */
  endSoon(tx: Transaction): void {
    tx.afterCommit(() => {
      this.endAll(OF_ENDED_CLIENTS).catch((error: unknown) => {
        log.warn({ err: error }, 'Sessions of a client that ended are written down by the next sweep');
      });
    });
  }

  private async endAll(statement: string, values: () => unknown[] = () => []): Promise<number> {
    let ended = 0;
    for (let step = MOST_AT_ONCE; step === MOST_AT_ONCE && !this.job.stopping; ended += step) {
      step = await this.endDue(statement, values());
      this.job.progressed();
    }
    return ended;
  }

  private endDue(statement: string, values: unknown[]): Promise<number> {
    return this.database.acrossOrganizations(async (tx) => {
      const due = await tx.query<DueRow>(statement, values);
      for (const { organization_id: organizationId, id, user_id: userId, reason } of due) {
        const context = systemActor(organizationId, newId(), 'session-sweep');
        await this.endings.endAll(tx, context, { userId, organizationId, only: id }, reason);
      }
      return due.length;
    });
  }
}
