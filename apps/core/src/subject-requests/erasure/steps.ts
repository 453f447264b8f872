import type { Transaction } from '@customer-platform/database';
import type { Identifier } from '../blocklist/erased-identifiers.js';

/** Rows of one transaction, so that none is long. */
const AT_ONCE = 1_000;
/** Letters that are read through, of which each may be as large as an event. */
const LETTERS_AT_ONCE = 200;

/** An erasure, as far as its steps need to know of it. */
export interface Erasure {
  readonly organizationId: string;
  readonly requestId: string;
  readonly contactIds: readonly string[];
  readonly identifiers: readonly Identifier[];
  /** Of the identifiers, as errors of imports keep them. */
  readonly hashes: readonly Buffer[];
  readonly cursor: string | null;
}

/** What a piece of a step did; `more` is false once the step has nothing left. */
export interface Piece {
  readonly more: boolean;
  readonly cursor?: string | null;
  readonly counts?: Readonly<Record<string, number>>;
}

type Step = (tx: Transaction, erasure: Erasure) => Promise<Piece>;

/** Events are counted as erased on the day on which they were accepted; they stay among the stored (core.md §6). */
const EVENTS = `
  WITH gone AS (
    DELETE FROM events
     WHERE organization_id = $1 AND id IN (
             SELECT id FROM events WHERE organization_id = $1 AND contact_id = ANY($2::uuid[]) LIMIT ${AT_ONCE})
    RETURNING id, (received_at AT TIME ZONE 'UTC')::date AS day
  ), counted AS (
    INSERT INTO usage_days AS total (organization_id, day, partition, erased)
    SELECT $1, day, -1, count(*) FROM gone GROUP BY day ORDER BY day
    ON CONFLICT (organization_id, day, partition) DO UPDATE SET erased = total.erased + excluded.erased
  )
  SELECT id FROM gone`;

/** Nothing of them is run again, and nothing of whom they are about is left. */
const CLOSE = `
  UPDATE dead_letters
     SET payload = NULL, external_id = NULL, contact_id = NULL, remainder = NULL, updated_at = now(),
         closed_reason = CASE WHEN state IN ('pending', 'replaying') THEN 'subject_erased' ELSE closed_reason END,
         state = CASE WHEN state IN ('pending', 'replaying') THEN 'closed' ELSE state END
   WHERE organization_id = $1`;

const CLOSE_OF_EVENTS = `${CLOSE} AND event_id = ANY($2::uuid[]) AND payload IS NOT NULL RETURNING 1`;

const CLOSE_OF_PERSON = `
  ${CLOSE} AND id IN (
    SELECT id FROM dead_letters WHERE organization_id = $1 AND contact_id = ANY($2::uuid[])
    UNION ALL
    SELECT id FROM dead_letters WHERE organization_id = $1 AND external_id = ANY($3::text[])
    LIMIT ${AT_ONCE})
  RETURNING 1`;

const CLOSE_THESE = `${CLOSE} AND id = ANY($2::uuid[]) RETURNING 1`;

/** Letters that may be of anybody: what was no event has no external id, and an identify may name somebody else. */
const TO_READ = `
  SELECT id, payload FROM dead_letters
   WHERE organization_id = $1 AND payload IS NOT NULL AND ($2::uuid IS NULL OR id > $2)
   ORDER BY id LIMIT ${LETTERS_AT_ONCE}`;

/** The evaluation's own lock: what it has read of the contacts it does not write afterwards. */
const EVALUATOR = `SELECT pg_advisory_xact_lock(hashtextextended('segments:evaluate:' || $1::text, 0))`;

const SEGMENT_ROWS = ['segment_changes', 'segment_dues', 'segment_matches'].map(
  (table) => `DELETE FROM ${table} WHERE organization_id = $1 AND contact_id = ANY($2::uuid[])`,
);

const LOCK_SEGMENTS = `
  SELECT 1 FROM segments
   WHERE organization_id = $1 AND id IN (
           SELECT segment_id FROM segment_members
            WHERE organization_id = $1 AND contact_id = ANY($2::uuid[]) AND left_at IS NULL)
   ORDER BY id FOR NO KEY UPDATE`;

const MEMBERSHIPS = `
  WITH gone AS (
    DELETE FROM segment_members WHERE organization_id = $1 AND contact_id = ANY($2::uuid[])
    RETURNING segment_id, left_at
  ), counted AS (
    UPDATE segments AS segment SET member_count = member_count - present.count
      FROM (SELECT segment_id, count(*)::int AS count FROM gone WHERE left_at IS NULL GROUP BY segment_id) AS present
     WHERE segment.organization_id = $1 AND segment.id = present.segment_id
  )
  SELECT 1 FROM gone`;

const EXPIRATIONS = `
  DELETE FROM consent_expirations WHERE organization_id = $1 AND contact_id = ANY($2::uuid[])`;

const EVIDENCE = `
  UPDATE consent_events SET evidence = NULL
   WHERE organization_id = $1 AND contact_id = ANY($2::uuid[]) AND evidence IS NOT NULL RETURNING 1`;

/** The answers to the request itself stay, without what was noted of the person. */
const OWN_ROUTE = 'POST /v1/core/subject-requests';

const ANSWERS = `
  DELETE FROM idempotency_keys
   WHERE organization_id = $1 AND body IS NOT NULL AND route <> '${OWN_ROUTE}'
     AND EXISTS (SELECT FROM unnest($2::text[]) AS sought WHERE position(sought IN lower(body)) > 0)
  RETURNING 1`;

const OWN_ANSWERS = `
  UPDATE idempotency_keys
     SET body = jsonb_set(body::jsonb || '{"note": null}', '{verification,reference}', 'null', false)::text
   WHERE organization_id = $1 AND body IS NOT NULL AND route = '${OWN_ROUTE}'
     AND EXISTS (SELECT FROM unnest($2::text[]) AS sought WHERE position(sought IN lower(body)) > 0)`;

/** Of an import at a time: its errors may be a million. */
const NEXT_IMPORT = `
  SELECT id FROM imports WHERE organization_id = $1 AND errors > 0 AND ($2::uuid IS NULL OR id > $2) ORDER BY id LIMIT 1`;

const IMPORT_ERRORS = `
  UPDATE import_errors SET value = NULL, subjects = '{}'
   WHERE organization_id = $1 AND import_id = $2 AND value IS NOT NULL
     AND (subjects && $3::bytea[] OR lower(btrim(value)) = ANY($4::text[]))
  RETURNING 1`;

const STEPS = {
  async events(tx, { contactIds }) {
    const gone = await tx.query<{ id: string }>(EVENTS, [tx.organizationId, contactIds]);
    const ids = gone.map(({ id }) => id);
    const letters = ids.length === 0 ? [] : await tx.query(CLOSE_OF_EVENTS, [tx.organizationId, ids]);
    return {
      more: gone.length === AT_ONCE,
      counts: { events: gone.length, dead_letters: letters.length },
    };
  },

  async segments(tx, { contactIds }) {
    await tx.query(EVALUATOR, [tx.organizationId]);
    await tx.query(LOCK_SEGMENTS, [tx.organizationId, contactIds]);
    for (const statement of SEGMENT_ROWS) await tx.query(statement, [tx.organizationId, contactIds]);
    const gone = await tx.query(MEMBERSHIPS, [tx.organizationId, contactIds]);
    return { more: false, counts: { segment_memberships: gone.length } };
  },

  async consents(tx, { contactIds }) {
    await tx.query(EXPIRATIONS, [tx.organizationId, contactIds]);
    const cleared = await tx.query(EVIDENCE, [tx.organizationId, contactIds]);
    return { more: false, counts: { consent_evidence: cleared.length } };
  },

  async letters(tx, { contactIds, identifiers }) {
    const externalIds = identifiers.filter(({ type }) => type === 'external_id').map(({ normal }) => normal);
    const closed = await tx.query(CLOSE_OF_PERSON, [tx.organizationId, contactIds, externalIds]);
    return { more: closed.length === AT_ONCE, counts: { dead_letters: closed.length } };
  },

  async payloads(tx, { contactIds, identifiers, cursor }) {
    const rows = await tx.query<{ id: string; payload: Buffer }>(TO_READ, [tx.organizationId, cursor]);
    const needles = needlesOf(contactIds, identifiers);
    const theirs = rows.filter(({ payload }) => isAbout(payload.toString('utf8').toLowerCase(), needles));
    const ids = theirs.map(({ id }) => id);
    if (ids.length > 0) await tx.query(CLOSE_THESE, [tx.organizationId, ids]);
    return {
      more: rows.length === LETTERS_AT_ONCE,
      cursor: rows.at(-1)?.id ?? null,
      counts: { dead_letters: ids.length },
    };
  },

  async answers(tx, { contactIds, identifiers }) {
    const needles = needlesOf(contactIds, identifiers);
    const gone = await tx.query(ANSWERS, [tx.organizationId, needles]);
    await tx.query(OWN_ANSWERS, [tx.organizationId, needles]);
    return { more: false, counts: { kept_answers: gone.length } };
  },

  async imports(tx, { identifiers, hashes, cursor }) {
    const [next] = await tx.query<{ id: string }>(NEXT_IMPORT, [tx.organizationId, cursor]);
    if (!next) return { more: false };
    const values = identifiers.map(({ normal }) => normal.toLowerCase());
    const gone = await tx.query(IMPORT_ERRORS, [tx.organizationId, next.id, hashes, values]);
    return { more: true, cursor: next.id, counts: { import_errors: gone.length } };
  },
} as const satisfies Record<string, Step>;

/** A step that takes something of the person away, in pieces. */
export type StepName = keyof typeof STEPS;

/** In their order. */
export const STEP_NAMES = Object.keys(STEPS) as readonly StepName[];

/** Where an erasure begins. */
export const FIRST_STEP: StepName = 'events';

/** One piece of the step, in the transaction that notes how far it came. */
export function runPiece(name: StepName, tx: Transaction, erasure: Erasure): Promise<Piece> {
  return STEPS[name](tx, erasure);
}

/**
 * What is sought in JSON, in lower case: ids as they are, values as whole texts, for one such as `1` stands in anybody's.
 * A national id has no value here: its index is sought nowhere.
 */
function needlesOf(contactIds: readonly string[], identifiers: readonly Identifier[]): string[] {
  const values = identifiers.filter(({ type }) => !type.startsWith('national_id.'));
  return [...contactIds, ...values.map(({ normal }) => JSON.stringify(normal).toLowerCase())];
}

function isAbout(text: string, needles: readonly string[]): boolean {
  return needles.some((needle) => text.includes(needle));
}
