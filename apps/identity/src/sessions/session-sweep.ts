import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { readConfig, serviceConfig } from '@customer-platform/config';
import { systemActor } from '@customer-platform/audit';
import { Clock, Database, newId, type RetentionOptions } from '@customer-platform/database';
import { PollingJob } from '@customer-platform/http';
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

interface DueRow {
  organization_id: string;
  id: string;
  user_id: string;
  reason: 'idle' | 'absolute';
}

/** Writes down, and tells, that sessions have ended by time. */
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

  /** How many sessions it has ended. */
  async run(): Promise<number> {
    let ended = 0;
    for (let step = MOST_AT_ONCE; step === MOST_AT_ONCE && !this.job.stopping; ended += step) {
      step = await this.endDue();
      this.job.progressed();
    }
    return ended;
  }

  private endDue(): Promise<number> {
    return this.database.acrossOrganizations(async (tx) => {
      const due = await tx.query<DueRow>(DUE, [this.clock.now()]);
      for (const { organization_id: organizationId, id, user_id: userId, reason } of due) {
        const context = systemActor(organizationId, newId(), 'session-sweep');
        await this.endings.endAll(tx, context, { userId, organizationId, only: id }, reason);
      }
      return due.length;
    });
  }
}
