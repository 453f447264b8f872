import { Injectable } from '@nestjs/common';
import { Tenants } from '@customer-platform/authorization';
import { Clock, Database, ItemJob, type WorkerTransaction } from '@customer-platform/database';
import { Outbox } from '@customer-platform/event-bus';
import { REQUEST_COLUMNS, requestEvent, type SubjectRequestRow } from './subject-request.row.js';

/** Its name in metrics and log lines. */
const JOB = 'subject-request-due';
const LOOK_EVERY_MS = 10_000;
const DAY_MS = 86_400_000;

/** So many days before a request is due it is warned. */
const WARNED_BEFORE = [3, 10] as const;

const OPEN = `state IN ('verifying', 'in_progress')`;
/**
 * `$2` and `$3` are times up to which is warned, and before how many days each of them lies. Those of the organization whose
 * turn it is, by a range that no index by time alone has: it has everybody's.
 */
const DUE = `
  ${OPEN} AND organization_id BETWEEN turn.organization_id AND turn.organization_id AND due_at > $1 AND id <> ALL($4::uuid[])
     AND EXISTS (SELECT FROM unnest($2::timestamptz[], $3::int[]) AS warning (until, days)
                  WHERE due_at <= warning.until AND (warned_days IS NULL OR warned_days > warning.days))
     AND due_at <= (SELECT max(until) FROM unnest($2::timestamptz[]) AS until)`;
/** Walks from an open request of one organization to that of the next, and asks of each for its soonest. */
export const OWNERS = `
  WITH RECURSIVE turn AS (
    (SELECT organization_id, due_at FROM subject_requests WHERE ${OPEN} ORDER BY organization_id, due_at LIMIT 1)
    UNION ALL
    SELECT next.organization_id, next.due_at FROM turn, LATERAL (
      SELECT organization_id, due_at FROM subject_requests WHERE organization_id > turn.organization_id AND ${OPEN}
       ORDER BY organization_id, due_at LIMIT 1) AS next)
  SELECT own.organization_id FROM turn, LATERAL (
    SELECT organization_id, due_at FROM subject_requests WHERE ${DUE} ORDER BY organization_id, due_at LIMIT 1) AS own
   ORDER BY own.due_at`;
/** What two instances see at once one of them has. The soonest that is due is warned of for the last time, where it is so soon. */
export const NEXT = `
  SELECT own.organization_id, own.id,
         (SELECT min(days) FROM unnest($2::timestamptz[], $3::int[]) AS warning (until, days)
           WHERE own.due_at <= warning.until) AS days
    FROM unnest($5::uuid[]) AS turn (organization_id), LATERAL (
      SELECT organization_id, id, due_at FROM subject_requests
       WHERE ${DUE} ORDER BY organization_id, due_at LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED) AS own
   LIMIT 1`;

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
    tenants: Tenants,
  ) {
    super({ name: JOB, takes: 'rows of subject_requests', everyMs: LOOK_EVERY_MS }, database, clock, tenants);
  }

  protected owners(
    tx: WorkerTransaction,
    waiting: readonly string[],
  ): Promise<Pick<Due, 'organization_id'>[]> {
    return tx.query(OWNERS, [...this.times(), waiting]);
  }

  protected async next(
    tx: WorkerTransaction,
    organizationIds: readonly string[],
    waiting: readonly string[],
  ): Promise<Due | undefined> {
    const [due] = await tx.query<Due>(NEXT, [...this.times(), waiting, organizationIds]);
    return due;
  }

  private times(): [Date, Date[], readonly number[]] {
    const now = this.clock.now();
    const until = WARNED_BEFORE.map((days) => new Date(now.getTime() + days * DAY_MS));
    return [now, until, WARNED_BEFORE];
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
