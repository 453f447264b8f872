import type { Transaction } from '@customer-platform/database';
import type { Cause } from '../../following/segment-follower.js';
import type { LiveSegment, SegmentIndex } from '../../vocabulary/rules/segment-index.js';
import type { Task, Tasks } from './evaluation.js';
import { timeHasPassed } from './evaluation.js';
import type { DueTimes } from './due-times.js';
import type { Reason } from './memberships.js';

/** By ctid (ADR 58). */
const TAKE = `
  WITH taken AS (
    SELECT ctid FROM segment_changes WHERE organization_id = $1 AND not_before <= $2
     ORDER BY id LIMIT $3 FOR UPDATE SKIP LOCKED)
  DELETE FROM segment_changes AS change USING taken
   WHERE change.organization_id = $1 AND change.ctid = taken.ctid
  RETURNING change.id, contact_id, cause, touched, correlation_id, event_id, attempts`;

const GIVE_BACK = `
  INSERT INTO segment_changes (organization_id, contact_id, cause, touched, correlation_id, event_id, attempts, not_before)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`;

/** A change that waits to be evaluated. */
export interface PendingChange {
  readonly id: string;
  readonly contact_id: string;
  readonly cause: Cause;
  readonly touched: readonly string[];
  readonly correlation_id: string;
  readonly event_id: string | null;
  readonly attempts: number;
}

/** Causes after which nobody may be written to; of several reasons at once the silent one is told. */
const SILENT: readonly Cause[] = ['merge', 'rule_change', 'restore', 'import'];

/** The oldest changes, taken off the queue, in the order in which they were noted. */
export async function takeChanges(tx: Transaction, now: Date, most: number): Promise<PendingChange[]> {
  const rows = await tx.query<PendingChange>(TAKE, [tx.organizationId, now, most]);
  return rows.sort((one, other) => Number(one.id) - Number(other.id));
}

/** Puts a change back, to be tried again. */
export async function giveBack(tx: Transaction, change: PendingChange, notBefore: Date): Promise<void> {
  const { contact_id, cause, touched, correlation_id, event_id, attempts } = change;
  await tx.query(GIVE_BACK, [
    tx.organizationId,
    contact_id,
    cause,
    touched,
    correlation_id,
    event_id,
    attempts + 1,
    notBefore,
  ]);
}

/** What the changes ask to be evaluated. */
export function tasksOf(index: SegmentIndex, changes: readonly PendingChange[]): Map<string, Task> {
  const tasks = new Map<string, Task>();
  for (const change of changes) {
    const { cause, correlation_id: correlationId, event_id: eventId } = change;
    const reason: Reason = { cause, correlationId, eventId };
    const segments = tasks.get(change.contact_id)?.segments ?? new Map<LiveSegment, Reason>();
    for (const segment of change.touched.flatMap((key) => index.touchedBy(key))) {
      if (segment.evaluated) segments.set(segment, told(segment, reason, segments.get(segment)));
    }
    tasks.set(change.contact_id, { segments, reason });
  }
  return tasks;
}

/** Adds the segments of which time has come to what is to be evaluated. */
export function addDue(
  index: SegmentIndex,
  tasks: Map<string, Task>,
  dues: ReadonlyMap<string, DueTimes>,
  now: Date,
): Tasks {
  for (const [contactId, times] of dues) {
    const reason = timeHasPassed();
    const task = tasks.get(contactId) ?? { segments: new Map<LiveSegment, Reason>(), reason };
    tasks.set(contactId, task);
    for (const [segmentId, at] of times) {
      const segment = index.segments.get(segmentId);
      if (!segment?.evaluated || at > now.getTime() || task.segments.has(segment)) continue;
      task.segments.set(segment, told(segment, reason, undefined));
    }
  }
  return tasks;
}

function told({ buildCause }: LiveSegment, reason: Reason, before: Reason | undefined): Reason {
  if (buildCause !== null) return { ...reason, cause: buildCause as Cause };
  return before && SILENT.includes(before.cause) && !SILENT.includes(reason.cause) ? before : reason;
}
