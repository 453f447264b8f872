import { Injectable } from '@nestjs/common';
import type { Transaction } from '@customer-platform/database';
import { Evaluation, type Task } from '../evaluating/evaluation.js';
import type { Reason } from '../evaluating/memberships.js';
import type { Cause } from '../../following/segment-follower.js';
import { keepMatches, matching } from '../../following/segment-follower.js';
import type { Condition, LiveSegment, SegmentIndex } from '../../vocabulary/rules/segment-index.js';

/** Events looked through, contacts gone through and rows cleared away in one transaction. */
const EVENTS_AT_ONCE = 2_000;
const CONTACTS_AT_ONCE = 500;
/** Answers of rules in one transaction: of many segments that are gone through together, fewer contacts at once. */
const ANSWERS_AT_ONCE = 50_000;
const ROWS_AT_ONCE = 10_000;

const UNBUILT = `
  SELECT id, event, cursor_at, cursor_id FROM segment_conditions WHERE organization_id = $1 AND state = 'building'
   ORDER BY id`;

const EVENTS = `
  SELECT id, contact_id AS "contactId", occurred_at, payload FROM events
   WHERE organization_id = $1 AND event = $2
     AND ($3::timestamptz IS NULL OR (occurred_at, id) > ($3::timestamptz, $4::uuid))
   ORDER BY occurred_at, id LIMIT $5`;

const CONDITIONS_ON = `
  UPDATE segment_conditions SET cursor_at = $3, cursor_id = $4, state = $5
   WHERE organization_id = $1 AND id = ANY($2::uuid[]) AND state = 'building'`;

const BEGIN_CONTACTS = `
  UPDATE segment_builds AS build SET phase = 'contacts', cursor_id = NULL
   WHERE organization_id = $1 AND phase = 'conditions' AND NOT EXISTS (
     SELECT FROM segment_condition_uses AS used JOIN segment_conditions AS condition
         ON condition.organization_id = used.organization_id AND condition.id = used.condition_id
      WHERE used.organization_id = $1 AND used.segment_id = build.segment_id AND condition.state = 'building')
  RETURNING segment_id`;

/** Those that came furthest are finished first; all that are new meanwhile begin together then. */
const NEXT_BUILDS = `
  SELECT segment_id, cause, correlation_id FROM segment_builds
   WHERE organization_id = $1 AND phase = 'contacts' AND cursor_id IS NOT DISTINCT FROM (
     SELECT max(cursor_id::text)::uuid FROM segment_builds WHERE organization_id = $1 AND phase = 'contacts')
   ORDER BY segment_id`;

const LOCK_SEGMENTS = `
  SELECT 1 FROM segments WHERE organization_id = $1 AND id = ANY($2::uuid[]) ORDER BY id FOR NO KEY UPDATE`;

/** As it is once the segments are locked: a rule that was changed meanwhile begins anew. */
const LOCK_BUILDS = `
  SELECT segment_id, cause, correlation_id, cursor_id FROM segment_builds
   WHERE organization_id = $1 AND segment_id = ANY($2::uuid[]) AND phase = 'contacts'
   ORDER BY cursor_id DESC NULLS LAST, segment_id FOR UPDATE`;

/** With members who are no more: nobody follows those of a segment that is deleted. */
const CONTACTS = `
  SELECT id FROM (
    (SELECT id FROM contacts WHERE organization_id = $1 AND ($2::uuid IS NULL OR id > $2) ORDER BY id LIMIT $3)
    UNION
    (SELECT DISTINCT contact_id FROM segment_members
      WHERE organization_id = $1 AND left_at IS NULL AND ($2::uuid IS NULL OR contact_id > $2)
      ORDER BY contact_id LIMIT $3)) AS contact
   ORDER BY id LIMIT $3`;

const BUILD_ON = `
  UPDATE segment_builds SET cursor_id = $3 WHERE organization_id = $1 AND segment_id = ANY($2::uuid[])`;
const BUILT = 'DELETE FROM segment_builds WHERE organization_id = $1 AND segment_id = ANY($2::uuid[])';
const READY = `
  UPDATE segments SET state = 'ready', evaluated_at = $3 WHERE organization_id = $1 AND id = ANY($2::uuid[])`;

const RAISE = 'UPDATE segment_revisions SET revision = revision + 1 WHERE organization_id = $1';

const DROPPED = `SELECT id FROM segment_conditions WHERE organization_id = $1 AND state = 'dropped' LIMIT 1`;
const CLEAR = `
  WITH piece AS (
    SELECT ctid FROM segment_matches WHERE organization_id = $1 AND condition_id = $2 LIMIT $3
  ), gone AS (
    DELETE FROM segment_matches AS match USING piece WHERE match.organization_id = $1 AND match.ctid = piece.ctid
  )
  SELECT 1 FROM piece`;
const CLEARED = 'DELETE FROM segment_conditions WHERE organization_id = $1 AND id = $2';

const REMOVAL = 'SELECT segment_id FROM segment_removals WHERE organization_id = $1 LIMIT 1';
/** Present and past members are found by an index each. */
const REMOVE = ['left_at IS NULL', 'left_at IS NOT NULL'].map(
  (which) => `
  WITH piece AS (
    SELECT ctid FROM segment_members WHERE organization_id = $1 AND segment_id = $2 AND ${which} LIMIT $3
  ), gone AS (
    DELETE FROM segment_members AS member USING piece WHERE member.organization_id = $1 AND member.ctid = piece.ctid
  )
  SELECT 1 FROM piece`,
);
const REMOVED = 'DELETE FROM segment_removals WHERE organization_id = $1 AND segment_id = $2';

interface UnbuiltRow {
  id: string;
  event: string;
  cursor_at: Date | null;
  cursor_id: string | null;
}

interface EventRow {
  id: string;
  contactId: string;
  occurred_at: Date;
  payload: Record<string, unknown>;
}

interface BuildRow {
  segment_id: string;
  cause: Cause;
  correlation_id: string;
}

interface LockedBuild extends BuildRow {
  cursor_id: string | null;
}

/**
 * Makes segments whose rule is new right for all that was before: looks their conditions up in the stored events,
 * then goes through all contacts. Piece by piece, each a transaction that says how far it came; what happens
 * meanwhile is followed as always, so that nothing falls between.
 */
@Injectable()
export class SegmentBuilder {
  constructor(private readonly evaluation: Evaluation) {}

  /** One piece of what the transaction's organization has to build; whether there was any. */
  async step(tx: Transaction, index: SegmentIndex, now: Date): Promise<boolean> {
    if (await this.lookBack(tx, index)) return true;
    const begun = await tx.query(BEGIN_CONTACTS, [tx.organizationId]);
    if (begun.length > 0) {
      // From the next revision on they are evaluated; all that comes before is seen by going through the contacts.
      await tx.query(RAISE, [tx.organizationId]);
      return true;
    }
    return (
      (await this.goThrough(tx, index, now)) || (await this.clearAway(tx)) || (await this.removeMembers(tx))
    );
  }

  /** Looks through events of one name for all conditions on it that have come equally far. */
  private async lookBack(tx: Transaction, index: SegmentIndex): Promise<boolean> {
    const unbuilt = await tx.query<UnbuiltRow>(UNBUILT, [tx.organizationId]);
    const first = unbuilt.find(({ id, event }) => index.conditionsOn(event).some((known) => known.id === id));
    if (!first) return false;
    const { event, cursor_at: since, cursor_id: after } = first;
    const together = new Set(
      unbuilt.filter((row) => row.event === event && row.cursor_id === after).map(({ id }) => id),
    );
    const conditions = index.conditionsOn(event).filter(({ id }) => together.has(id));
    const events = await tx.query<EventRow>(EVENTS, [tx.organizationId, event, since, after, EVENTS_AT_ONCE]);
    await keepMatches(tx, matchesAmong(tx.organizationId, conditions, events));
    const last = events.at(-1);
    await tx.query(CONDITIONS_ON, [
      tx.organizationId,
      conditions.map(({ id }) => id),
      last?.occurred_at ?? since,
      last?.id ?? after,
      events.length < EVENTS_AT_ONCE ? 'ready' : 'building',
    ]);
    return true;
  }

  /** Goes through contacts for all segments that have come equally far. */
  private async goThrough(tx: Transaction, index: SegmentIndex, now: Date): Promise<boolean> {
    const { organizationId } = tx;
    const next = await tx.query<BuildRow>(NEXT_BUILDS, [organizationId]);
    const known = next.flatMap(({ segment_id: id }) => (index.segments.get(id)?.evaluated ? id : []));
    if (known.length === 0) return false;
    // First the segments, as who changes one: none can be given another rule while this piece is evaluated.
    await tx.query(LOCK_SEGMENTS, [organizationId, known]);
    const locked = await tx.query<LockedBuild>(LOCK_BUILDS, [organizationId, known]);
    const [first] = locked;
    if (!first) return true;
    const builds = locked.filter(({ cursor_id: cursor }) => cursor === first.cursor_id);
    const most = Math.min(CONTACTS_AT_ONCE, Math.ceil(ANSWERS_AT_ONCE / builds.length));
    const contacts = await tx.query<{ id: string }>(CONTACTS, [organizationId, first.cursor_id, most]);
    await this.evaluation.run(tx, index, tasksOf(index, builds, contacts), now);
    const segments = builds.map(({ segment_id: id }) => id);
    const last = contacts.at(-1);
    if (last && contacts.length === most) {
      await tx.query(BUILD_ON, [organizationId, segments, last.id]);
      return true;
    }
    await tx.query(BUILT, [organizationId, segments]);
    await tx.query(READY, [organizationId, segments, now]);
    await tx.query(RAISE, [organizationId]);
    return true;
  }

  /** What no rule asks for any more. */
  private async clearAway(tx: Transaction): Promise<boolean> {
    const [dropped] = await tx.query<{ id: string }>(DROPPED, [tx.organizationId]);
    if (!dropped) return false;
    const cleared = await tx.query(CLEAR, [tx.organizationId, dropped.id, ROWS_AT_ONCE]);
    if (cleared.length < ROWS_AT_ONCE) await tx.query(CLEARED, [tx.organizationId, dropped.id]);
    return true;
  }

  /** Who was in a segment that has been purged. */
  private async removeMembers(tx: Transaction): Promise<boolean> {
    const [removal] = await tx.query<{ segment_id: string }>(REMOVAL, [tx.organizationId]);
    if (!removal) return false;
    for (const statement of REMOVE) {
      const removed = await tx.query(statement, [tx.organizationId, removal.segment_id, ROWS_AT_ONCE]);
      if (removed.length === ROWS_AT_ONCE) return true;
    }
    await tx.query(REMOVED, [tx.organizationId, removal.segment_id]);
    return true;
  }
}

/** All contacts are asked by all of the rules, each for its own reason. */
function tasksOf(
  index: SegmentIndex,
  builds: readonly BuildRow[],
  contacts: readonly { id: string }[],
): Map<string, Task> {
  const segments = new Map<LiveSegment, Reason>();
  for (const { segment_id: id, cause, correlation_id: correlationId } of builds) {
    const segment = index.segments.get(id);
    if (segment) segments.set(segment, { cause, correlationId, eventId: null });
  }
  const [reason] = segments.values();
  if (!reason) return new Map();
  return new Map(contacts.map(({ id }) => [id, { segments, reason }]));
}

function matchesAmong(organizationId: string, conditions: readonly Condition[], events: readonly EventRow[]) {
  return events.flatMap(({ id, contactId, occurred_at: at, payload }) =>
    matching(conditions, payload, at.getTime()).map((condition) => ({
      condition,
      event: { organizationId, id, contactId, occurredAt: at.toISOString() },
    })),
  );
}
