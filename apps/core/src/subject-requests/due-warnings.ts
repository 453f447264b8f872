import { Injectable } from '@nestjs/common';
import { Clock, Database } from '@customer-platform/database';
import { Outbox } from '@customer-platform/event-bus';
import { WorkerJob } from '@customer-platform/http';
import { REQUEST_COLUMNS, requestEvent, type SubjectRequestRow } from './subject-request.row.js';

/** As metrics and log lines call it. */
const JOB = 'subject-request-due';
const LOOK_EVERY_MS = 10_000;
const DAY_MS = 86_400_000;

/** So many days before a request is due it is warned, the last time first. */
const WARNED_BEFORE = [3, 10] as const;

/** What two instances see at once one of them has. */
const WARN = `
  WITH due AS (
    SELECT organization_id, id FROM subject_requests
     WHERE state IN ('verifying', 'in_progress') AND due_at > $1 AND due_at <= $2
       AND (warned_days IS NULL OR warned_days > $3)
     ORDER BY due_at LIMIT 100 FOR NO KEY UPDATE SKIP LOCKED
  )
  UPDATE subject_requests AS request SET warned_days = $3 FROM due
   WHERE request.organization_id = due.organization_id AND request.id = due.id
  RETURNING request.organization_id, ${REQUEST_COLUMNS.replaceAll(/\b([a-z_][a-z_0-9]*)\b/g, 'request.$1')}`;

/**
 * Tells of requests that are due in ten days, and in three: once each for a due date, however many instances look. One that
 * is first seen less than three days before is told of once. Runs where PROCESS_ROLE is not api.
 */
@Injectable()
export class DueWarnings extends WorkerJob {
  constructor(
    private readonly database: Database,
    private readonly outbox: Outbox,
    private readonly clock: Clock,
  ) {
    super({ name: JOB, everyMs: LOOK_EVERY_MS });
  }

  protected override pass(): Promise<void> {
    return this.runAll();
  }

  /** Tells of all that have to be told of now. */
  async runAll(): Promise<void> {
    for (const days of WARNED_BEFORE) {
      for (let more = true; more && !this.job.stopping;) more = await this.warn(days);
    }
    this.job.progressed();
  }

  private async warn(days: number): Promise<boolean> {
    const now = this.clock.now();
    const until = new Date(now.getTime() + days * DAY_MS);
    return this.database.acrossOrganizations(async (tx) => {
      const rows = await tx.query<SubjectRequestRow & { organization_id: string }>(WARN, [now, until, days]);
      for (const [organizationId, own] of Map.groupBy(rows, (row) => row.organization_id)) {
        await tx.useOrganization(organizationId);
        await this.outbox.append(
          tx,
          own.map((row) => requestEvent(organizationId, row, 'due_soon')),
        );
      }
      return rows.length > 0;
    });
  }
}
