import { Injectable } from '@nestjs/common';
import type { Transaction } from '@customer-platform/database';
import type { FieldChange } from './merge-fields.js';
import type { MergeOutcome, MovedCounts } from './merge-outcome.js';

const COLUMNS = `id, place, survivor_id AS "survivorId", merged_id AS "mergedId", status, changes, outcome,
  seen_before AS "seenBefore", merged_at AS "mergedAt"`;

const INSERT = `
  INSERT INTO contact_merges (organization_id, id, survivor_id, merged_id, status, reason, changes, outcome, seen_before,
                              merged_at)
  VALUES ($1, $2, $3, $4, 'merged', $5, $6, $7, $8, $9)`;

const BY_ID = `SELECT ${COLUMNS} FROM contact_merges WHERE organization_id = $1 AND id = $2`;

const STANDING = `
  SELECT ${COLUMNS} FROM contact_merges WHERE organization_id = $1 AND merged_id = $2 AND status = 'merged'`;

const LATER = `
  SELECT 1 FROM contact_merges
   WHERE organization_id = $1 AND survivor_id = $2 AND status = 'merged' AND place > $3 LIMIT 1`;

/** By a trigger its values go, whichever release undoes it: they may be of somebody who came through others. */
const UNDONE = `
  UPDATE contact_merges SET status = 'undone', undone_at = $3 WHERE organization_id = $1 AND id = $2`;

const REPEATED_AT = `
  SELECT unnest(ARRAY[merged_at, undone_at]) AS at FROM contact_merges
   WHERE organization_id = $1 AND survivor_id = ANY($2::uuid[]) AND status = 'undone'`;

const MOVE = 'contact_id = $2, origin_id = coalesce(origin_id, $3)';
const OF_MERGED = 'contact_id = $3';
/** What came after the merge under an identity that it moved has the same origin, and goes too. */
const MOVE_BACK = 'contact_id = $3, origin_id = nullif(origin_id, $3)';
const OF_FAMILY = 'contact_id = $2 AND origin_id = ANY($4::uuid[])';

const OF_IDENTITIES = (set: string, whose: string): string =>
  `UPDATE identities SET ${set} WHERE organization_id = $1 AND ${whose}`;

/** Events of one statement: each is short against its time, however many a contact has. */
const EVENTS_AT_ONCE = 10_000;

/**
 * A piece of them, in the order of an index and from where the piece before ended: what was moved is not read again. By
 * ctid (ADR 58), within the organization's partition.
 */
const OF_EVENTS = (set: string, whose: string, next: number): string => `
  WITH piece AS (
    SELECT ctid, occurred_at, id FROM events
     WHERE organization_id = $1 AND ${whose}
       AND ($${next}::timestamptz IS NULL OR (occurred_at, id) > ($${next}::timestamptz, $${next + 1}::uuid))
     ORDER BY occurred_at, id LIMIT ${EVENTS_AT_ONCE} FOR UPDATE
  ), moved AS (
    UPDATE events SET ${set} FROM piece WHERE events.organization_id = $1 AND events.ctid = piece.ctid
  )
  SELECT occurred_at::text AS at, id, (SELECT count(*)::int FROM piece) AS count FROM piece
   ORDER BY occurred_at DESC, id DESC LIMIT 1`;

const MOVE_EVENTS = OF_EVENTS(MOVE, OF_MERGED, 4);
const MOVE_EVENTS_BACK = OF_EVENTS(MOVE_BACK, OF_FAMILY, 5);

const COUNTS = `
  SELECT (SELECT count(*) FROM identities WHERE organization_id = $1 AND contact_id = $2 AND yielded_at IS NULL)::int
           AS identities,
         (SELECT count(*) FROM events WHERE organization_id = $1 AND contact_id = $2)::int AS events,
         (SELECT count(*) FROM consent_events WHERE organization_id = $1 AND contact_id = ANY($3::uuid[]))::int AS consents`;

const IDENTITIES_BY_TYPE = `
  SELECT type, count(*)::int AS count FROM identities
   WHERE organization_id = $1 AND contact_id = ANY($2::uuid[]) AND yielded_at IS NULL
   GROUP BY type ORDER BY type`;

const SEE = `
  UPDATE contact_activity SET last_seen_at = $3 WHERE organization_id = $1 AND contact_id = $2`;

const SEE_LATEST = SEE.replace('= $3', '= greatest(last_seen_at, $3)');

const LATEST_EVENT = `
  SELECT max(occurred_at) AS at FROM events WHERE organization_id = $1 AND contact_id = $2`;

const ERASURES = `
  SELECT 1 FROM subject_requests
   WHERE organization_id = $1 AND contact_id = ANY($2::uuid[]) AND type = 'erasure'
     AND state IN ('verifying', 'in_progress') LIMIT 1`;

const COUNT_MERGED = `
  INSERT INTO usage_days AS day (organization_id, day, partition, contacts_merged)
  VALUES ($1, ($2::timestamptz AT TIME ZONE 'UTC')::date, -1, $3)
  ON CONFLICT (organization_id, day, partition) DO UPDATE
    SET contacts_merged = day.contacts_merged + excluded.contacts_merged`;

/** A merge as it is kept. */
export interface MergeRow {
  readonly id: string;
  /** Grows with every merge of the organization. */
  readonly place: string;
  readonly survivorId: string;
  readonly mergedId: string;
  readonly status: 'merged' | 'undone';
  /** None of one that is undone, whose outcome has no values either: its fields are names, and what was kept. */
  readonly changes: readonly FieldChange[];
  readonly outcome: MergeOutcome;
  /** When the survivor had last been seen before. */
  readonly seenBefore: Date;
  readonly mergedAt: Date;
}

/** The table `contact_merges`, and the rows that go with a contact. */
@Injectable()
export class MergesRepository {
  async add(
    tx: Transaction,
    merge: Omit<MergeRow, 'place' | 'status'> & { reason: string | null },
  ): Promise<void> {
    await tx.query(INSERT, [
      tx.organizationId,
      merge.id,
      merge.survivorId,
      merge.mergedId,
      merge.reason,
      JSON.stringify(merge.changes),
      JSON.stringify(merge.outcome),
      merge.seenBefore,
      merge.mergedAt,
    ]);
  }

  async byId(tx: Transaction, id: string): Promise<MergeRow | undefined> {
    const [row] = await tx.query<MergeRow>(BY_ID, [tx.organizationId, id]);
    return row;
  }

  /** The merge by which a contact is merged. */
  async standing(tx: Transaction, mergedId: string): Promise<MergeRow | undefined> {
    const [row] = await tx.query<MergeRow>(STANDING, [tx.organizationId, mergedId]);
    return row;
  }

  /** Whether the survivor took another contact since, and has it still. */
  async hasLater(tx: Transaction, { survivorId, place }: MergeRow): Promise<boolean> {
    return (await tx.query(LATER, [tx.organizationId, survivorId, place])).length > 0;
  }

  /** Each has its own again: that there was a merge stays, of which fields, and how much it moved. */
  async undone(tx: Transaction, id: string, now: Date): Promise<void> {
    await tx.query(UNDONE, [tx.organizationId, id, now]);
  }

  /** When merges into these contacts that are undone were carried out and undone: what they said then is void. */
  async repeatedAt(tx: Transaction, survivorIds: readonly string[]): Promise<Date[]> {
    const rows = await tx.query<{ at: Date }>(REPEATED_AT, [tx.organizationId, survivorIds]);
    return rows.map(({ at }) => at);
  }

  /** Gives the identities and events of a contact to its survivor. */
  async move(tx: Transaction, survivorId: string, mergedId: string): Promise<void> {
    const given = [tx.organizationId, survivorId, mergedId];
    await tx.query(OF_IDENTITIES(MOVE, OF_MERGED), given);
    await inPieces(tx, MOVE_EVENTS, given);
  }

  /** Gives back what is of the contact, or of those that it had taken itself (`family`). */
  async moveBack(
    tx: Transaction,
    survivorId: string,
    mergedId: string,
    family: readonly string[],
  ): Promise<void> {
    const given = [tx.organizationId, survivorId, mergedId, family];
    await tx.query(OF_IDENTITIES(MOVE_BACK, OF_FAMILY), given);
    await inPieces(tx, MOVE_EVENTS_BACK, given);
  }

  /** What a contact has; consents stand under the ids of its whole family. */
  async counts(tx: Transaction, contactId: string, family: readonly string[]): Promise<MovedCounts> {
    const [counts] = await tx.query<MovedCounts>(COUNTS, [tx.organizationId, contactId, family]);
    return counts ?? { identities: 0, events: 0, consents: 0 };
  }

  /** How many identities of each type contacts have together. */
  async identitiesByType(tx: Transaction, contactIds: readonly string[]): Promise<Map<string, number>> {
    const rows = await tx.query<{ type: string; count: number }>(IDENTITIES_BY_TYPE, [
      tx.organizationId,
      contactIds,
    ]);
    return new Map(rows.map(({ type, count }) => [type, count]));
  }

  /** Whether one of them waits to be erased. */
  async isErasureOpen(tx: Transaction, contactIds: readonly string[]): Promise<boolean> {
    return (await tx.query(ERASURES, [tx.organizationId, contactIds])).length > 0;
  }

  async see(tx: Transaction, contactId: string, at: Date): Promise<void> {
    await tx.query(SEE, [tx.organizationId, contactId, at]);
  }

  /** As `see`, but never earlier than it was seen already. */
  async seeLatest(tx: Transaction, contactId: string, at: Date | null): Promise<void> {
    if (at) await tx.query(SEE_LATEST, [tx.organizationId, contactId, at]);
  }

  /** When the latest event of a contact happened. */
  async latestEvent(tx: Transaction, contactId: string): Promise<Date | null> {
    const [row] = await tx.query<{ at: Date | null }>(LATEST_EVENT, [tx.organizationId, contactId]);
    return row?.at ?? null;
  }

  /** For usage; others of the organization may wait for this row, so it comes last. */
  async count(tx: Transaction, merged: 1 | -1, now: Date): Promise<void> {
    await tx.query(COUNT_MERGED, [tx.organizationId, now, merged]);
  }
}

/** Goes on until a piece is not full: the two contacts are locked, and nobody adds events to them meanwhile. */
async function inPieces(tx: Transaction, statement: string, given: readonly unknown[]): Promise<void> {
  let position: readonly unknown[] | undefined = [null, null];
  while (position) {
    const [last]: { at: string; id: string; count: number }[] = await tx.query(statement, [
      ...given,
      ...position,
    ]);
    position = last?.count === EVENTS_AT_ONCE ? [last.at, last.id] : undefined;
  }
}
