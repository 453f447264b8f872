import { Injectable } from '@nestjs/common';
import { pageOf, pageOfOwners, type Transaction } from '@customer-platform/database';
import { TIMELINE_START, type ListQuery, type Page, type TimelinePosition } from '@customer-platform/http';
import type { ConsentEventRow, ConsentStateRow, ConsentStatus } from '../../vocabulary/consents/consent.js';

const COLUMNS = `id, contact_id, purpose, channel, status, notice_version, notice_hash, method, legal_basis, jurisdiction,
  evidence, pii_categories, recipients, storage_locations, retention, withdrawal_method, expires_at, occurred_at,
  controller, actor_type, actor_id, impersonator_id, correlation_id, recorded_at`;

const INSERT = `
  INSERT INTO consent_events (organization_id, ${COLUMNS})
  SELECT $1, event.* FROM jsonb_to_recordset($2::jsonb) AS event (id uuid, contact_id uuid, purpose text, channel text,
    status text, notice_version text, notice_hash text, method text, legal_basis text, jurisdiction text,
    evidence jsonb, pii_categories text[], recipients text[], storage_locations text[], retention text,
    withdrawal_method text, expires_at timestamptz, occurred_at timestamptz, controller uuid, actor_type text,
    actor_id text, impersonator_id text, correlation_id uuid, recorded_at timestamptz)`;

const EXPIRE_LATER = `
  INSERT INTO consent_expirations (organization_id, event_id, contact_id, expires_at)
  SELECT $1, * FROM unnest($2::uuid[], $3::uuid[], $4::timestamptz[])`;

const historyOf = (contactId: string): string => `
  SELECT ${COLUMNS} FROM consent_events
   WHERE organization_id = $1 AND contact_id = ${contactId} AND ($2::timestamptz IS NULL OR occurred_at <= $2)`;

/** Along the index of a contact's history. */
const NEWEST = `
  SELECT ${COLUMNS} FROM consent_events
   WHERE organization_id = $1 AND contact_id = $2 AND (occurred_at, id) < ($3::timestamptz, $4::uuid)
   ORDER BY occurred_at DESC, id DESC LIMIT $5`;

/**
 * core.md §5: of a (purpose, channel) the latest event among that channel's and those about all channels decides; of
 * several at one instant the strictest. A grant holds until, not at, its `expires_at`.
 */
const STATES = `
  WITH said AS (
    SELECT id, purpose, channel, occurred_at, expires_at, notice_version, method, legal_basis, correlation_id,
           CASE WHEN status = 'granted' AND expires_at <= $3 THEN 'expired' ELSE status END AS status
      FROM consent_events
     WHERE organization_id = $1 AND contact_id = ANY($2::uuid[]) AND occurred_at <= $3),
  pairs AS (SELECT DISTINCT purpose, channel FROM said)
  SELECT md5(pairs.purpose || ' ' || coalesce(pairs.channel, ''))::uuid AS id, pairs.purpose, pairs.channel,
         decisive.id AS event_id, decisive.status, decisive.occurred_at, decisive.expires_at, decisive.notice_version,
         decisive.method, decisive.legal_basis, decisive.correlation_id
    FROM pairs CROSS JOIN LATERAL (
      SELECT said.* FROM said
       WHERE said.purpose = pairs.purpose AND (said.channel IS NULL OR said.channel = pairs.channel)
       ORDER BY said.occurred_at DESC, array_position(ARRAY['withdrawn', 'denied', 'expired', 'granted'], said.status),
                said.id DESC
       LIMIT 1) AS decisive`;

/** Of what a person did not say, but a merge of contacts or its undoing repeated. */
export const BY_MERGE = 'merge';

/**
 * The state of each pair, whether or not it was ever named itself; of a contact all ids are given as one text. What
 * merges have repeated that were recorded at these instants is left out.
 */
const STATES_OF_PAIRS = `
  SELECT pair.place::int AS place, decisive.*,
         pair.channel IS NULL AND EXISTS (
           SELECT FROM consent_events AS own
            WHERE own.organization_id = $1 AND own.contact_id = ANY(string_to_array(pair.ids, ',')::uuid[])
              AND own.purpose = pair.purpose AND own.channel IS NOT NULL AND own.status <> decisive.status
              AND own.occurred_at BETWEEN decisive.occurred_at AND $5) AS divided
    FROM unnest($2::text[], $3::text[], $4::text[]) WITH ORDINALITY AS pair (ids, purpose, channel, place)
   CROSS JOIN LATERAL (
     SELECT id AS event_id, occurred_at, notice_version, method,
            CASE WHEN status = 'granted' AND expires_at <= $5 THEN 'expired' ELSE status END AS status
       FROM consent_events
      WHERE organization_id = $1 AND contact_id = ANY(string_to_array(pair.ids, ',')::uuid[])
        AND purpose = pair.purpose AND occurred_at <= $5 AND (channel IS NULL OR channel = pair.channel)
        AND NOT (method IS NOT DISTINCT FROM '${BY_MERGE}' AND recorded_at = ANY($6::timestamptz[]))
      ORDER BY occurred_at DESC,
               array_position(ARRAY['withdrawn', 'denied', 'expired', 'granted'],
                 CASE WHEN status = 'granted' AND expires_at <= $5 THEN 'expired' ELSE status END), id DESC
      LIMIT 1) AS decisive`;

/** The latest event by which a pair had a state, whether said of the channel or of all. */
const LATEST_WITH = `
  SELECT ${COLUMNS} FROM consent_events
   WHERE organization_id = $1 AND contact_id = ANY($2::uuid[]) AND purpose = $3 AND occurred_at <= $5
     AND (channel IS NULL OR channel = $4)
     AND CASE WHEN status = 'granted' AND expires_at <= $5 THEN 'expired' ELSE status END = $6
   ORDER BY occurred_at DESC, id DESC LIMIT 1`;

const REFUSALS = `
  SELECT ${COLUMNS} FROM consent_events
   WHERE organization_id = $1 AND contact_id = ANY($2::uuid[]) AND recorded_at >= $3
     AND status IN ('withdrawn', 'denied') AND method IS DISTINCT FROM $4
   ORDER BY occurred_at, id`;

const LATEST = `
  SELECT max(last.occurred_at) AS at
    FROM unnest($2::uuid[]) AS contact (id)
   CROSS JOIN LATERAL (
     SELECT occurred_at FROM consent_events WHERE organization_id = $1 AND contact_id = contact.id
      ORDER BY occurred_at DESC, id DESC LIMIT 1) AS last`;

const MERGED_AT = `
  SELECT max(merged_at) AS at FROM contact_merges
   WHERE organization_id = $1 AND survivor_id = ANY($2::uuid[]) AND status = 'merged'`;

/**
 * The pairs for which a repeated grant stands against a refusal, though nothing was granted since by the person: each
 * refusal as in STATES_OF_PAIRS, with its time.
 */
const ONLY_REPEATED = `
  SELECT refusal.place::int AS place, pair.channel
    FROM unnest($2::text[], $3::text[], $4::text[], $5::timestamptz[]) WITH ORDINALITY
           AS refusal (ids, purpose, channel, at, place)
   CROSS JOIN LATERAL (
     SELECT DISTINCT coalesce(refusal.channel, said.channel) AS channel FROM consent_events AS said
      WHERE said.organization_id = $1 AND said.contact_id = ANY(string_to_array(refusal.ids, ',')::uuid[])
        AND said.occurred_at > refusal.at AND said.purpose = refusal.purpose AND said.status = 'granted'
        AND said.method = '${BY_MERGE}'
        AND (said.channel IS NULL OR refusal.channel IS NULL OR said.channel = refusal.channel)) AS pair
   WHERE NOT EXISTS (
     SELECT FROM consent_events AS said
      WHERE said.organization_id = $1 AND said.contact_id = ANY(string_to_array(refusal.ids, ',')::uuid[])
        AND said.occurred_at > refusal.at AND said.purpose = refusal.purpose AND said.status = 'granted'
        AND said.method <> '${BY_MERGE}' AND (said.channel IS NULL OR said.channel = pair.channel))`;

/**
 * The refusals whose contact has survived a merge since anything of the kind was said of it: what was said before, and
 * what a merge repeated, does not go to both when they part.
 */
const BEFORE_MERGES = `
  SELECT refusal.place::int AS place
    FROM unnest($2::text[], $3::text[], $4::text[]) WITH ORDINALITY AS refusal (ids, purpose, channel, place)
   CROSS JOIN LATERAL (
     SELECT max(merged_at) AS at FROM contact_merges
      WHERE organization_id = $1 AND survivor_id = ANY(string_to_array(refusal.ids, ',')::uuid[])
        AND status = 'merged') AS merge
   WHERE merge.at IS NOT NULL AND NOT EXISTS (
     SELECT FROM consent_events AS said
      WHERE said.organization_id = $1 AND said.contact_id = ANY(string_to_array(refusal.ids, ',')::uuid[])
        AND said.purpose = refusal.purpose AND (said.channel IS NULL OR said.channel = refusal.channel)
        AND said.status IN ('withdrawn', 'denied') AND said.method IS DISTINCT FROM '${BY_MERGE}'
        AND said.recorded_at >= merge.at)`;

/** What a consent is about, and of whom: all ids of one contact. */
export interface ConsentPair {
  readonly ids: readonly string[];
  readonly purpose: string;
  readonly channel: string | null;
}

/** What decides a pair at an instant. */
export interface DecidedState {
  event_id: string;
  occurred_at: Date;
  status: ConsentStatus;
  notice_version: string | null;
  method: string | null;
  /** Set where it is of all channels, and something else was said of one of them since. */
  divided: boolean;
}

/** The table `consent_events`: appended to and read, nothing else. `ids` are all those of one contact. */
@Injectable()
export class ConsentsRepository {
  /** Adds events; those that will end by themselves also to the queue of ends. */
  async append(tx: Transaction, rows: readonly ConsentEventRow[], now: Date): Promise<void> {
    await tx.query(INSERT, [tx.organizationId, JSON.stringify(rows)]);
    const ending = rows.filter(({ expires_at: end }) => end !== null && end > now);
    if (ending.length === 0) return;
    await tx.query(EXPIRE_LATER, [
      tx.organizationId,
      ending.map(({ id }) => id),
      ending.map(({ contact_id: contactId }) => contactId),
      ending.map(({ expires_at: end }) => end),
    ]);
  }

  /** One page of what was said, of what happened until `until`. */
  history(
    tx: Transaction,
    ids: readonly string[],
    query: ListQuery,
    until: Date | null,
  ): Promise<Page<ConsentEventRow>> {
    return pageOfOwners(tx, historyOf, ids, query, { parameters: [tx.organizationId, until] });
  }

  /** The newest of what was said under one id, after a position, at most so many. */
  newest(
    tx: Transaction,
    contactId: string,
    after: TimelinePosition | undefined,
    most: number,
  ): Promise<ConsentEventRow[]> {
    const { occurredAt, id } = after ?? TIMELINE_START;
    return tx.prepared<ConsentEventRow>(NEWEST, [tx.organizationId, contactId, occurredAt, id, most]);
  }

  /** One page of what held at an instant. */
  states(
    tx: Transaction,
    ids: readonly string[],
    query: ListQuery,
    at: Date,
  ): Promise<Page<ConsentStateRow>> {
    return pageOf(tx, STATES, query, { parameters: [tx.organizationId, ids, at] });
  }

  /** All of what held at an instant. */
  allStates(tx: Transaction, ids: readonly string[], at: Date): Promise<ConsentStateRow[]> {
    return tx.query(`${STATES} ORDER BY purpose, channel NULLS FIRST`, [tx.organizationId, ids, at]);
  }

  async byId(tx: Transaction, id: string): Promise<ConsentEventRow | undefined> {
    const [row] = await tx.query<ConsentEventRow>(
      `SELECT ${COLUMNS} FROM consent_events WHERE organization_id = $1 AND id = $2`,
      [tx.organizationId, id],
    );
    return row;
  }

  /** The latest event by which a pair had this state, at an instant. */
  async latestWith(
    tx: Transaction,
    ids: readonly string[],
    { purpose, channel }: { readonly purpose: string; readonly channel: string | null },
    status: ConsentStatus,
    at: Date,
  ): Promise<ConsentEventRow | undefined> {
    const parameters = [tx.organizationId, ids, purpose, channel, at, status];
    const [row] = await tx.query<ConsentEventRow>(LATEST_WITH, parameters);
    return row;
  }

  /** The withdrawals and refusals recorded since, but for those recorded by this method; oldest first. */
  refusalsSince(
    tx: Transaction,
    ids: readonly string[],
    since: Date,
    exceptBy: string,
  ): Promise<ConsentEventRow[]> {
    return tx.query<ConsentEventRow>(REFUSALS, [tx.organizationId, ids, since, exceptBy]);
  }

  /** When the latest of what was said is dated; undefined where nothing was said. */
  async latest(tx: Transaction, ids: readonly string[]): Promise<Date | undefined> {
    if (ids.length === 0) return undefined;
    const [row] = await tx.query<{ at: Date | null }>(LATEST, [tx.organizationId, ids]);
    return row?.at ?? undefined;
  }

  /** When the latest merge into one of these contacts was carried out that stands; undefined where there is none. */
  async mergedAt(tx: Transaction, ids: readonly string[]): Promise<Date | undefined> {
    const [row] = await tx.query<{ at: Date | null }>(MERGED_AT, [tx.organizationId, ids]);
    return row?.at ?? undefined;
  }

  /**
   * For which channels (null: all) each refusal is earlier than a grant that only a merge has repeated, by its place in
   * the list: the person granted nothing after it.
   */
  async onlyRepeated(
    tx: Transaction,
    refusals: readonly (ConsentPair & { readonly at: Date })[],
  ): Promise<{ place: number; channel: string | null }[]> {
    if (refusals.length === 0) return [];
    const rows = await tx.query<{ place: number; channel: string | null }>(ONLY_REPEATED, [
      tx.organizationId,
      refusals.map(({ ids }) => ids.join()),
      refusals.map(({ purpose }) => purpose),
      refusals.map(({ channel }) => channel),
      refusals.map(({ at }) => at),
    ]);
    return rows.map(({ place, channel }) => ({ place: place - 1, channel }));
  }

  /** The refusals, by their places in the list, that nobody has said since the contact last survived a merge. */
  async beforeMerges(tx: Transaction, refusals: readonly ConsentPair[]): Promise<number[]> {
    if (refusals.length === 0) return [];
    const rows = await tx.query<{ place: number }>(BEFORE_MERGES, [
      tx.organizationId,
      refusals.map(({ ids }) => ids.join()),
      refusals.map(({ purpose }) => purpose),
      refusals.map(({ channel }) => channel),
    ]);
    return rows.map(({ place }) => place - 1);
  }

  /** What held for one pair at an instant; undefined if nothing was ever said about it. */
  async stateOf(
    tx: Transaction,
    ids: readonly string[],
    { purpose, channel }: { readonly purpose: string; readonly channel: string | null },
    at: Date,
    repeatedAt: readonly Date[] = [],
  ): Promise<DecidedState | undefined> {
    const [state] = await this.statesOf(tx, [{ ids, purpose, channel }], at, repeatedAt);
    return state;
  }

  /**
   * What held for each pair at an instant; undefined for one about which nothing was ever said.
   * @param repeatedAt when merges were carried out or undone whose repetitions are to say nothing
   */
  async statesOf(
    tx: Transaction,
    pairs: readonly ConsentPair[],
    at: Date,
    repeatedAt: readonly Date[] = [],
  ): Promise<(DecidedState | undefined)[]> {
    if (pairs.length === 0) return [];
    const rows = await tx.query<DecidedState & { place: number }>(STATES_OF_PAIRS, [
      tx.organizationId,
      pairs.map(({ ids }) => ids.join()),
      pairs.map(({ purpose }) => purpose),
      pairs.map(({ channel }) => channel),
      at,
      repeatedAt,
    ]);
    const states = new Map(rows.map(({ place, ...state }) => [place, state]));
    return pairs.map((_, index) => states.get(index + 1));
  }
}
