import {
  bigints,
  byteas,
  integers,
  texts,
  timestamps,
  type Transaction,
  uuids,
} from '@customer-platform/database';
import type { Line } from './lots.js';

/** What a ledger row does. */
export type EntryKind = 'earn' | 'adjust' | 'spend' | 'expire' | 'reverse';

/** What ties a ledger row to a person; an erasure removes it. */
interface Link {
  eventId: string | null;
  correlationId: string;
  occurredAt: Date | string;
  reference: string | null;
  reason: string | null;
}

/** A ledger row to write. What happens once has a key that is there once. */
export interface Head {
  id: string;
  kind: EntryKind;
  points: number;
  subjectRef: string;
  actor: { readonly type: string; readonly id: string };
  /** When the lot that it opens ends. */
  expiresAt: Date | null;
  rule?: { id: string; version: number; eventHash: Buffer };
  reversesId?: string;
  expiredLotId?: string;
  call?: { key: Buffer; body: Buffer };
  /** Null: of an erased contact. */
  link: Link | null;
}

/** A ledger row with its lines, whose sum it is. */
export interface Entry extends Head {
  lines: readonly Line[];
}

const INSERT_TRANSACTIONS = `
  INSERT INTO transactions (organization_id, id, kind, points, subject_ref, rule_id, rule_version, rule_event_hash,
    reverses_id, expired_lot_id, idempotency_hash, request_hash, actor_type, actor_id, expires_at, created_at)
  SELECT $1, given.*, $2
    FROM unnest($3::uuid[], $4::text[], $5::bigint[], $6::uuid[], $7::uuid[], $8::int[], $9::bytea[], $10::uuid[],
      $11::uuid[], $12::bytea[], $13::bytea[], $14::text[], $15::text[], $16::timestamptz[]) AS given
  ON CONFLICT (organization_id, rule_event_hash) WHERE rule_event_hash IS NOT NULL DO NOTHING
  RETURNING id`;

const INSERT_LINKS = `
  INSERT INTO links (organization_id, transaction_id, subject_ref, event_id, correlation_id, occurred_at, reference, reason)
  SELECT $1, * FROM unnest($2::uuid[], $3::uuid[], $4::uuid[], $5::uuid[], $6::timestamptz[], $7::text[], $8::text[])`;

const INSERT_LINES = `
  INSERT INTO lines (organization_id, transaction_id, lot_id, points, subject_ref)
  SELECT $1, * FROM unnest($2::uuid[], $3::uuid[], $4::bigint[], $5::uuid[])`;

/**
 * Several lines may touch one lot, and an upsert may not touch a row twice: the sums of the lines. Each lot's opener is
 * sought by its key: in a join the planner reads the whole ledger.
 */
const ADD_TO_LOTS = `
  INSERT INTO lot_balances (organization_id, subject_ref, lot_id, remaining, expires_at, created_at)
  SELECT $1, given.subject_ref, given.lot_id, given.points, opener.expires_at, opener.created_at
    FROM (SELECT subject_ref, lot_id, sum(points) AS points
            FROM unnest($2::uuid[], $3::uuid[], $4::bigint[]) AS line (subject_ref, lot_id, points)
           GROUP BY subject_ref, lot_id ORDER BY subject_ref, lot_id) AS given
   CROSS JOIN LATERAL (
     SELECT expires_at, created_at FROM transactions
      WHERE organization_id = $1 AND id = given.lot_id OFFSET 0) AS opener
  ON CONFLICT (organization_id, subject_ref, lot_id)
    DO UPDATE SET remaining = lot_balances.remaining + excluded.remaining`;

const ADD_TO_BALANCES = `
  UPDATE balances SET points = balances.points + given.points
    FROM (SELECT subject_ref, sum(points) AS points
            FROM unnest($2::uuid[], $3::bigint[]) AS given (subject_ref, points) GROUP BY subject_ref) AS given
   WHERE balances.organization_id = $1 AND balances.subject_ref = given.subject_ref`;

/** Writes the rows themselves; answers the ids of those whose (rule, event) had not earned before. */
export async function insertHeads(tx: Transaction, heads: readonly Head[], now: Date): Promise<Set<string>> {
  const rows = await tx.query<{ id: string }>(INSERT_TRANSACTIONS, [
    tx.organizationId,
    now,
    uuids(heads.map(({ id }) => id)),
    texts(heads.map(({ kind }) => kind)),
    bigints(heads.map(({ points }) => points)),
    uuids(heads.map(({ subjectRef }) => subjectRef)),
    uuids(heads.map(({ rule }) => rule?.id)),
    integers(heads.map(({ rule }) => rule?.version)),
    byteas(heads.map(({ rule }) => rule?.eventHash)),
    uuids(heads.map(({ reversesId }) => reversesId)),
    uuids(heads.map(({ expiredLotId }) => expiredLotId)),
    byteas(heads.map(({ call }) => call?.key)),
    byteas(heads.map(({ call }) => call?.body)),
    texts(heads.map(({ actor }) => actor.type)),
    texts(heads.map(({ actor }) => actor.id)),
    timestamps(heads.map(({ expiresAt }) => expiresAt)),
  ]);
  return new Set(rows.map(({ id }) => id));
}

/** Writes what hangs on rows that are there: links, lines, and the sums by lot and by subject. */
export async function writeEffects(tx: Transaction, entries: readonly Entry[]): Promise<void> {
  await insertLinks(tx, entries);
  const lines = entries.flatMap((entry) => entry.lines.map((line) => ({ ...line, transactionId: entry.id })));
  const refs = uuids(lines.map(({ subjectRef }) => subjectRef));
  const lots = uuids(lines.map(({ lotId }) => lotId));
  const points = bigints(lines.map((line) => line.points));
  const ids = uuids(lines.map(({ transactionId }) => transactionId));
  await tx.query(INSERT_LINES, [tx.organizationId, ids, lots, points, refs]);
  await tx.query(ADD_TO_LOTS, [tx.organizationId, refs, lots, points]);
  await tx.query(ADD_TO_BALANCES, [tx.organizationId, refs, points]);
}

/** Posts entries whose lines are known beforehand; the locks of all their lines' subjects must be held. */
export async function postEntries(tx: Transaction, entries: readonly Entry[], now: Date): Promise<void> {
  if (entries.length === 0) return;
  await insertHeads(tx, entries, now);
  await writeEffects(tx, entries);
}

async function insertLinks(tx: Transaction, entries: readonly Entry[]): Promise<void> {
  const linked = entries.flatMap(({ id, subjectRef, link }) =>
    link === null ? [] : [{ id, subjectRef, ...link }],
  );
  if (linked.length === 0) return;
  await tx.query(INSERT_LINKS, [
    tx.organizationId,
    uuids(linked.map(({ id }) => id)),
    uuids(linked.map(({ subjectRef }) => subjectRef)),
    uuids(linked.map(({ eventId }) => eventId)),
    uuids(linked.map(({ correlationId }) => correlationId)),
    timestamps(linked.map(({ occurredAt }) => occurredAt)),
    texts(linked.map(({ reference }) => reference)),
    texts(linked.map(({ reason }) => reason)),
  ]);
}
