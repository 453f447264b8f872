import type { Transaction } from '@customer-platform/database';
import { forgetParked } from '@customer-platform/event-bus';
import type { SuggestionsRepository } from '../../people/suggestions/suggestions.repository.js';
import type { Identifier } from '../../blocklist/erased-identifiers.js';
import { deadLettersOf } from './dead-letters-of-person.js';
import type { SoughtPerson } from './sought-person.js';

/** As kept answers name the route by which a request is opened. */
const OWN_ROUTE = 'POST /v1/core/subject-requests';

/** Rows of one transaction, so that none is long. */
const AT_ONCE = 1_000;
/** Answers that are read through, of which each may be as large as an event. */
const READ_AT_ONCE = 200;

/** How far a step came: values by which its next piece begins, as texts. */
export type Position = readonly string[];

/** An erasure, as far as its steps need to know of it. */
interface Erasure {
  readonly organizationId: string;
  readonly requestId: string;
  readonly contactIds: readonly string[];
  /** What the person is sought by; read where a step asks for it, for it may be long. */
  readonly identifiers: () => Promise<readonly Identifier[]>;
  /** Of the identifiers, as errors of imports keep them. */
  readonly hashes: () => Promise<readonly Buffer[]>;
  readonly sought: () => Promise<SoughtPerson>;
  readonly suggestions: Pick<SuggestionsRepository, 'withdrawValues'>;
  /** Where the step goes on; undefined where it begins. */
  readonly position: Position | undefined;
}

/** What a piece of a step did; without `next` the step has nothing left. */
interface Piece {
  readonly next?: Position;
  readonly counts?: Readonly<Record<string, number>>;
}

type Step = (tx: Transaction, erasure: Erasure) => Promise<Piece>;

/** Stands for the fingerprint of a body of which nothing may be told: no body has it. */
const NO_FINGERPRINT = '00000000-0000-0000-0000-000000000000';

/**
 * Events are counted as erased on the day on which they were accepted; they stay among the stored (core.md §6). Their keys
 * stay used, by the ids that are derived from them. One contact's after the other, in the order of an index and from where
 * the piece before ended: what was deleted is not read again.
 */
const EVENTS = `
  WITH sought AS (
    SELECT id FROM events
     WHERE organization_id = $1 AND contact_id = $2
       AND ($3::timestamptz IS NULL OR (occurred_at, id) > ($3::timestamptz, $4::uuid))
     ORDER BY occurred_at, id LIMIT ${AT_ONCE}
  ), gone AS (
    DELETE FROM events WHERE organization_id = $1 AND id IN (SELECT id FROM sought)
    RETURNING id, occurred_at, (received_at AT TIME ZONE 'UTC')::date AS day
  ), traced AS (
    INSERT INTO removed_events (organization_id, id, fingerprint) SELECT $1, id, '${NO_FINGERPRINT}' FROM gone
    ON CONFLICT DO NOTHING
  ), counted AS (
    INSERT INTO usage_days AS total (organization_id, day, partition, erased)
    SELECT $1, day, -1, count(*) FROM gone GROUP BY day ORDER BY day
    ON CONFLICT (organization_id, day, partition) DO UPDATE SET erased = total.erased + excluded.erased
  )
  SELECT id, occurred_at AS at FROM gone ORDER BY occurred_at, id`;

/** Nothing of them is run again, and nothing of whom they are about is left. */
const CLOSE = `
  UPDATE dead_letters
     SET payload = NULL, external_id = NULL, contact_id = NULL, remainder = NULL, updated_at = now(),
         closed_reason = CASE WHEN state IN ('pending', 'replaying') THEN 'subject_erased' ELSE closed_reason END,
         state = CASE WHEN state IN ('pending', 'replaying') THEN 'closed' ELSE state END
   WHERE organization_id = $1`;

const CLOSE_OF_EVENTS = `${CLOSE} AND event_id = ANY($2::uuid[]) AND payload IS NOT NULL RETURNING 1`;

const CLOSE_THESE = `${CLOSE} AND id = ANY($2::uuid[]) RETURNING 1`;

/** The evaluation's own lock: what it has read of the contacts it does not write afterwards. */
const EVALUATOR = `SELECT pg_advisory_xact_lock(hashtextextended('segments:evaluate:' || $1::text, 0))`;

const QUEUED = ['segment_changes', 'segment_dues'].map(
  (table) => `
  WITH piece AS (
    SELECT ctid FROM ${table} WHERE organization_id = $1 AND contact_id = ANY($2::uuid[]) LIMIT ${AT_ONCE}
  ), gone AS (
    DELETE FROM ${table} AS queued USING piece WHERE queued.organization_id = $1 AND queued.ctid = piece.ctid
  )
  SELECT 1 FROM piece`,
);

/** Of each condition the contact's are found by the key. */
const MATCHES = `
  WITH piece AS (
    SELECT match.ctid
      FROM segment_conditions AS condition, unnest($2::uuid[]) AS contact (id),
           LATERAL (SELECT ctid FROM segment_matches
                     WHERE organization_id = $1 AND condition_id = condition.id AND contact_id = contact.id
                     LIMIT ${AT_ONCE}) AS match
     WHERE condition.organization_id = $1 LIMIT ${AT_ONCE}
  ), gone AS (
    DELETE FROM segment_matches AS match USING piece WHERE match.organization_id = $1 AND match.ctid = piece.ctid
  )
  SELECT 1 FROM piece`;

const LOCK_SEGMENTS = `
  SELECT 1 FROM segments
   WHERE organization_id = $1 AND id IN (
           SELECT segment_id FROM segment_members
            WHERE organization_id = $1 AND contact_id = ANY($2::uuid[]) AND left_at IS NULL)
   ORDER BY id FOR NO KEY UPDATE`;

const MEMBERSHIPS = `
  WITH gone AS (
    DELETE FROM segment_members WHERE organization_id = $1 AND id = ANY(ARRAY(
      SELECT id FROM segment_members WHERE organization_id = $1 AND contact_id = ANY($2::uuid[]) LIMIT ${AT_ONCE}))
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

/** What was suggested of the contacts while they were taken out of the profile. */
const SUGGESTIONS = `
  DELETE FROM merge_suggestions
   WHERE organization_id = $1 AND (first_id = ANY($2::uuid[]) OR second_id = ANY($2::uuid[])) RETURNING 1`;
const CLAIMANTS =
  'DELETE FROM identity_claimants WHERE organization_id = $1 AND contact_id = ANY($2::uuid[])';

/** In the order of the key. */
const ANSWERS = `
  SELECT route, encode(key_hash, 'hex') AS key, body FROM idempotency_keys
   WHERE organization_id = $1
     AND ($2::text IS NULL OR (route, key_hash) > ($2::text, decode($3::text, 'hex')))
   ORDER BY route, key_hash LIMIT ${READ_AT_ONCE}`;

const OF_THESE = `
  organization_id = $1 AND (route, key_hash) IN (
    SELECT route, decode(key, 'hex') FROM unnest($2::text[], $3::text[]) AS found (route, key)) AND body IS NOT NULL`;

const FORGET_ANSWERS = `DELETE FROM idempotency_keys WHERE ${OF_THESE} RETURNING 1`;

/** The answers to the request itself stay, without what was noted of the person. */
const FORGET_NOTES = `
  UPDATE idempotency_keys
     SET body = jsonb_set(body::jsonb || '{"note": null, "corrections": null, "outcome": null}', '{verification,reference}', 'null', false)::text
   WHERE ${OF_THESE}`;

interface AnswerRow {
  route: string;
  key: string;
  body: string | null;
}

/** Of an import at a time, and of its errors so many: there may be a million. */
const ERRORS_AT_ONCE = 5_000;
const NEXT_IMPORT = `
  SELECT id FROM imports WHERE organization_id = $1 AND errors > 0 AND ($2::uuid IS NULL OR id > $2) ORDER BY id LIMIT 1`;

/**
 * The name of a column that nobody mapped is a member of the row's own, which may say anything. Up to the last of the
 * piece, without a join to it (ADR 58).
 */
const IMPORT_ERRORS = `
  WITH piece AS (
    SELECT place FROM import_errors
     WHERE organization_id = $1 AND import_id = $2 AND place > $3 ORDER BY place LIMIT ${ERRORS_AT_ONCE}
  ), gone AS (
    UPDATE import_errors
       SET value = NULL, subjects = '{}',
           column_name = CASE WHEN code = 'unknown_field' THEN NULL ELSE column_name END
     WHERE organization_id = $1 AND import_id = $2 AND place > $3 AND place <= (SELECT max(place) FROM piece)
       AND (subjects && $4::bytea[] OR lower(btrim(value)) = ANY($5::text[]))
    RETURNING 1
  )
  SELECT (SELECT max(place) FROM piece) AS last, (SELECT count(*)::int FROM piece) AS read,
         (SELECT count(*)::int FROM gone) AS gone`;

/** Before all ids. */
const NIL = '00000000-0000-0000-0000-000000000000';

const STEPS = {
  async events(tx, { contactIds, position = [] }) {
    const [contactId = contactIds[0], at = null, id = null] = position;
    if (contactId === undefined) return {};
    const gone = await tx.query<{ id: string; at: Date }>(EVENTS, [tx.organizationId, contactId, at, id]);
    const ids = gone.map((event) => event.id);
    const letters = ids.length === 0 ? [] : await tx.query(CLOSE_OF_EVENTS, [tx.organizationId, ids]);
    const last = gone.at(-1);
    const following = contactIds[contactIds.indexOf(contactId) + 1];
    const counts = { events: gone.length, dead_letters: letters.length };
    if (last && gone.length === AT_ONCE) return { next: [contactId, last.at.toISOString(), last.id], counts };
    return following === undefined ? { counts } : { next: [following], counts };
  },

  async segments(tx, { contactIds }) {
    await tx.query(EVALUATOR, [tx.organizationId]);
    const of = [tx.organizationId, contactIds];
    await tx.query(LOCK_SEGMENTS, of);
    const gone = await tx.query(MEMBERSHIPS, of);
    const deleted = [gone.length];
    for (const statement of [...QUEUED, MATCHES]) deleted.push((await tx.query(statement, of)).length);
    const counts = { segment_memberships: gone.length };
    return deleted.includes(AT_ONCE) ? { next: [], counts } : { counts };
  },

  async consents(tx, { contactIds }) {
    await tx.query(EXPIRATIONS, [tx.organizationId, contactIds]);
    const cleared = await tx.query(EVIDENCE, [tx.organizationId, contactIds]);
    return { counts: { consent_evidence: cleared.length } };
  },

  async suggestions(tx, { contactIds, identifiers, suggestions }) {
    const deleted = await tx.query(SUGGESTIONS, [tx.organizationId, contactIds]);
    await tx.query(CLAIMANTS, [tx.organizationId, contactIds]);
    await suggestions.withdrawValues(tx, await identifiers());
    return { counts: { suggestions: deleted.length } };
  },

  /** Events that core could not process among them: what they say of the person would come back with their delivery. */
  async letters(tx, { contactIds }) {
    await forgetParked(tx, contactIds);
    return {};
  },

  async payloads(tx, { contactIds, identifiers, sought, position = [] }) {
    const whose = { contactIds, identifiers: await identifiers(), person: await sought() };
    const [after = null] = position;
    const { ids, next } = await deadLettersOf(tx, whose, after);
    if (ids.length > 0) await tx.query(CLOSE_THESE, [tx.organizationId, ids]);
    const counts = { dead_letters: ids.length };
    return next === undefined ? { counts } : { next: [next], counts };
  },

  async answers(tx, { sought, position = [] }) {
    const person = await sought();
    const [route = null, key = null] = position;
    const rows = await tx.query<AnswerRow>(ANSWERS, [tx.organizationId, route, key]);
    const theirs = rows.filter(({ body }) => body !== null && person.isInAnswer(body));
    const { true: own = [], false: others = [] } = Object.groupBy(theirs, (row) =>
      row.route === OWN_ROUTE ? 'true' : 'false',
    );
    const gone = others.length === 0 ? [] : await tx.query(FORGET_ANSWERS, keysOf(tx, others));
    if (own.length > 0) await tx.query(FORGET_NOTES, keysOf(tx, own));
    const last = rows.at(-1);
    const counts = { kept_answers: gone.length };
    return last && rows.length === READ_AT_ONCE ? { next: [last.route, last.key], counts } : { counts };
  },

  /** Within an import the position is that behind the import before it, then the import itself and the place in it. */
  async imports(tx, { identifiers, hashes, position = [] }) {
    const [after = NIL, within, place] = position;
    const [next] = await tx.query<{ id: string }>(NEXT_IMPORT, [tx.organizationId, after]);
    if (!next) return {};
    const values = (await identifiers()).map(({ normal }) => normal.toLowerCase());
    const [piece] = await tx.query<{ last: number | null; read: number; gone: number }>(IMPORT_ERRORS, [
      tx.organizationId,
      next.id,
      within === next.id ? Number(place) : 0,
      await hashes(),
      values,
    ]);
    const counts = { import_errors: piece?.gone ?? 0 };
    const isWhole = piece?.last == null || piece.read < ERRORS_AT_ONCE;
    return { next: isWhole ? [next.id] : [after, next.id, String(piece.last)], counts };
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

function keysOf({ organizationId }: Transaction, rows: readonly AnswerRow[]): unknown[] {
  return [organizationId, rows.map(({ route }) => route), rows.map(({ key }) => key)];
}
