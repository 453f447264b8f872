import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { readConfig, serviceConfig } from '@customer-platform/config';
import { systemActor } from '@customer-platform/audit';
import { Clock, Database, newId } from '@customer-platform/database';
import { log } from '@customer-platform/http';
import { SessionEndings } from './session-endings.js';

const EVERY_MS = 60_000;
/** Ended at once, so that no transaction is long. */
const MOST_AT_ONCE = 500;
/** Kept so long after the end (identity.md §5). */
const KEPT_DAYS = 90;

const DUE = `
SELECT organization_id, id, user_id, CASE WHEN expires_at <= idle_expires_at THEN 'absolute' ELSE 'idle' END AS reason
  FROM sessions
 WHERE ended_at IS NULL AND least(idle_expires_at, expires_at) <= $1
 LIMIT ${String(MOST_AT_ONCE)} FOR UPDATE SKIP LOCKED`;
const FORGET = `DELETE FROM sessions WHERE ended_at < $1::timestamptz - interval '${String(KEPT_DAYS)} days'`;

interface DueRow {
  organization_id: string;
  id: string;
  user_id: string;
  reason: 'idle' | 'absolute';
}

/** Writes down, and tells, that sessions have ended by time; forgets those that ended long ago. */
@Injectable()
export class SessionSweep implements OnApplicationBootstrap, OnApplicationShutdown {
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> = Promise.resolve();

  constructor(
    private readonly database: Database,
    private readonly endings: SessionEndings,
    private readonly clock: Clock,
  ) {}

  onApplicationBootstrap(): void {
    if (readConfig(serviceConfig).PROCESS_ROLE === 'api') return;
    this.timer = setInterval(() => {
      this.running = this.run().then(
        () => undefined,
        (error: unknown) => log.warn({ err: error }, 'Sessions could not be ended; trying again'),
      );
    }, EVERY_MS);
    this.timer.unref();
  }

  async onApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    await this.running;
  }

  /** How many sessions it has ended. */
  async run(): Promise<number> {
    let ended = 0;
    for (;;) {
      const round = await this.endDue();
      ended += round;
      if (round < MOST_AT_ONCE) break;
    }
    await this.database.acrossOrganizations((tx) => tx.query(FORGET, [this.clock.now()]));
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
