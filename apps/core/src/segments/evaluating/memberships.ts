import { newId, type Transaction } from '@customer-platform/database';
import type { NewDomainEvent } from '@customer-platform/event-bus';
import type { Cause } from '../../following/segment-follower.js';

/** One text for a contact: tens of thousands of rows cost more than what is in them. */
const CURRENT = `
  SELECT contact_id, string_agg(segment_id::text, ' ') AS segments FROM segment_members
   WHERE organization_id = $1 AND contact_id = ANY($2::uuid[]) AND left_at IS NULL
     AND ($3::uuid[] IS NULL OR segment_id = ANY($3::uuid[]))
   GROUP BY contact_id`;

const ENTER = `
  INSERT INTO segment_members (organization_id, id, segment_id, contact_id, entered_at, cause)
  SELECT $1, id, segment_id, contact_id, $2, cause
    FROM unnest($3::uuid[], $4::uuid[], $5::uuid[], $6::text[]) AS entered (id, segment_id, contact_id, cause)`;

const LEAVE = `
  UPDATE segment_members AS member SET left_at = greatest($2, entered_at), left_cause = gone.cause
    FROM unnest($3::uuid[], $4::uuid[], $5::text[]) AS gone (segment_id, contact_id, cause)
   WHERE member.organization_id = $1 AND member.contact_id = gone.contact_id
     AND member.segment_id = gone.segment_id AND member.left_at IS NULL`;

/** \`evaluated_at\` is kept to the second: a row would otherwise be written for every event. */
const COUNT = `
  UPDATE segments AS segment SET member_count = member_count + change.difference, evaluated_at = $2
    FROM unnest($3::uuid[], $4::int[]) AS change (segment_id, difference)
   WHERE segment.organization_id = $1 AND segment.id = change.segment_id
     AND (change.difference <> 0 OR evaluated_at IS NULL OR evaluated_at < $2::timestamptz - interval '1 second')`;

const LOCK = `
  SELECT 1 FROM segments WHERE organization_id = $1 AND id = ANY($2::uuid[]) ORDER BY id FOR NO KEY UPDATE`;

/** By a contact, present and past memberships are found by an index each. */
const FORGET = ['left_at IS NULL', 'left_at IS NOT NULL'].map(
  (which) =>
    `DELETE FROM segment_members WHERE organization_id = $1 AND contact_id = ANY($2::uuid[]) AND ${which}`,
);

/** What moved a contact, as it is told. */
export interface Reason {
  readonly cause: Cause;
  readonly correlationId: string;
  readonly eventId: string | null;
}

/** A contact that enters or leaves a segment. */
export interface Move {
  readonly verb: 'entered' | 'left';
  readonly segmentId: string;
  readonly contactId: string;
  readonly reason: Reason;
}

/** The segments in which each contact is, among these or among all. */
export async function readMemberships(
  tx: Transaction,
  contactIds: readonly string[],
  among: readonly string[] | null,
): Promise<Map<string, Set<string>>> {
  if (contactIds.length === 0) return new Map();
  const rows = await tx.query<{ contact_id: string; segments: string }>(CURRENT, [
    tx.organizationId,
    contactIds,
    among,
  ]);
  return new Map(rows.map(({ contact_id: id, segments }) => [id, new Set(segments.split(' '))]));
}

/** Writes the moves and the counts of the segments that were evaluated. */
export async function writeMoves(
  tx: Transaction,
  moves: readonly Move[],
  evaluated: ReadonlySet<string>,
  now: Date,
): Promise<void> {
  const { organizationId } = tx;
  const differences = new Map([...evaluated].map((id) => [id, 0]));
  for (const { verb, segmentId } of moves) {
    differences.set(segmentId, (differences.get(segmentId) ?? 0) + (verb === 'entered' ? 1 : -1));
  }
  // In one order, before anything else is written: who changes a segment locks its row first as well.
  if (moves.length > 0)
    await tx.query(LOCK, [organizationId, [...new Set(moves.map(({ segmentId }) => segmentId))]]);
  const left = moves.filter(({ verb }) => verb === 'left');
  if (left.length > 0) await tx.query(LEAVE, [organizationId, now, ...columnsOf(left)]);
  const entered = moves.filter(({ verb }) => verb === 'entered');
  if (entered.length > 0)
    await tx.query(ENTER, [organizationId, now, entered.map(() => newId()), ...columnsOf(entered)]);
  if (differences.size > 0)
    await tx.query(COUNT, [organizationId, now, [...differences.keys()], [...differences.values()]]);
}

/** Takes away what is kept of contacts that are no more. */
export async function forget(tx: Transaction, contactIds: readonly string[]): Promise<void> {
  for (const statement of FORGET) await tx.query(statement, [tx.organizationId, contactIds]);
}

/** `core.segment.entered` or `.left`. */
export function moveEvent({ verb, segmentId, contactId, reason }: Move, at: Date, organizationId: string) {
  const event: NewDomainEvent = {
    type: `core.segment.${verb}.v1`,
    organizationId,
    key: contactId,
    subject: `segments/${segmentId}`,
    correlationId: reason.correlationId,
    ...(reason.eventId === null ? {} : { causationId: reason.eventId }),
    data: { segment_id: segmentId, contact_id: contactId, cause: reason.cause, at: at.toISOString() },
  };
  return event;
}

function columnsOf(moves: readonly Move[]): unknown[] {
  return [
    moves.map(({ segmentId }) => segmentId),
    moves.map(({ contactId }) => contactId),
    moves.map(({ reason }) => reason.cause),
  ];
}
