import { Injectable } from '@nestjs/common';
import { Clock, Database, ItemJob, type WorkerTransaction } from '@customer-platform/database';
import { Outbox } from '@customer-platform/event-bus';
import { REQUEST_COLUMNS, requestEvent, type SubjectRequestRow } from './subject-request.row.js';

/** Its name in metrics and log lines. */
const JOB = 'subject-request-due';
const LOOK_EVERY_MS = 10_000;
const DAY_MS = 86_400_000;

/** So many days before a request is due it is warned, the last time first. */
const WARNED_BEFORE = [3, 10] as const;

/** What two instances see at once one of them has. */
const NEXT = `
  SELECT organization_id, id FROM subject_requests
   WHERE state IN ('verifying', 'in_progress') AND due_at > $1 AND due_at <= $2
     AND (warned_days IS NULL OR warned_days > $3) AND id <> ALL($4::uuid[])
     AND organization_id <> ALL($5::uuid[])
   ORDER BY due_at LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED`;

const WARN = `
  UPDATE subject_requests SET warned_days = $3 WHERE organization_id = $1 AND id = $2
  RETURNING ${REQUEST_COLUMNS}`;

interface Due {
  readonly organization_id: string;
  readonly id: string;
  readonly days: number;
}

/**
 * Tells of requests that are due in ten days, and in three: once each for a due date, however many instances look. One that
 * is first seen less than three days before is told of once. Runs where PROCESS_ROLE is not api.
 */
@Injectable()
export class DueWarnings extends ItemJob<Due> {
  constructor(
    database: Database,
    private readonly outbox: Outbox,
    private readonly clock: Clock,
  ) {
    super({ name: JOB, takes: 'rows of subject_requests', everyMs: LOOK_EVERY_MS }, database, clock);
  }

  protected async next(
    tx: WorkerTransaction,
    waiting: readonly string[],
    resting: readonly string[],
  ): Promise<Due | undefined> {
    const now = this.clock.now();
    for (const days of WARNED_BEFORE) {
      const until = new Date(now.getTime() + days * DAY_MS);
      const [due] = await tx.query<Omit<Due, 'days'>>(NEXT, [now, until, days, waiting, resting]);
      if (due) return { ...due, days };
    }
    return undefined;
  }

  protected async work(
    tx: WorkerTransaction,
    { organization_id: organizationId, id, days }: Due,
  ): Promise<void> {
    const [row] = await tx.query<SubjectRequestRow>(WARN, [organizationId, id, days]);
    if (row) await this.outbox.append(tx, requestEvent(organizationId, row, 'due_soon'));
  }

  protected nameOf({ id }: Due): string {
    return id;
  }
}
