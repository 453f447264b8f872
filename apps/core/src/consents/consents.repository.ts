import { Injectable } from '@nestjs/common';
import { pageOf, pageOfOwners, type Transaction } from '@customer-platform/database';
import type { ListQuery, Page } from '@customer-platform/http';
import type { ConsentEventRow, ConsentStateRow, ConsentStatus } from './consent.js';

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

/** The state of each pair, whether or not it was ever named itself; of a contact all ids are given as one text. */
const STATES_OF_PAIRS = `
  SELECT pair.place::int AS place, decisive.*
    FROM unnest($2::text[], $3::text[], $4::text[]) WITH ORDINALITY AS pair (ids, purpose, channel, place)
   CROSS JOIN LATERAL (
     SELECT id AS event_id, occurred_at, notice_version,
            CASE WHEN status = 'granted' AND expires_at <= $5 THEN 'expired' ELSE status END AS status
       FROM consent_events
      WHERE organization_id = $1 AND contact_id = ANY(string_to_array(pair.ids, ',')::uuid[])
        AND purpose = pair.purpose AND occurred_at <= $5 AND (channel IS NULL OR channel = pair.channel)
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

/** What a consent is about, and of whom: all ids of one contact. */
interface ConsentPair {
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

  /** What held for one pair at an instant; undefined if nothing was ever said about it. */
  async stateOf(
    tx: Transaction,
    ids: readonly string[],
    { purpose, channel }: { readonly purpose: string; readonly channel: string | null },
    at: Date,
  ): Promise<DecidedState | undefined> {
    const [state] = await this.statesOf(tx, [{ ids, purpose, channel }], at);
    return state;
  }

  /** What held for each pair at an instant; undefined for one about which nothing was ever said. */
  async statesOf(
    tx: Transaction,
    pairs: readonly ConsentPair[],
    at: Date,
  ): Promise<(DecidedState | undefined)[]> {
    if (pairs.length === 0) return [];
    const rows = await tx.query<DecidedState & { place: number }>(STATES_OF_PAIRS, [
      tx.organizationId,
      pairs.map(({ ids }) => ids.join()),
      pairs.map(({ purpose }) => purpose),
      pairs.map(({ channel }) => channel),
      at,
    ]);
    const states = new Map(rows.map(({ place, ...state }) => [place, state]));
    return pairs.map((_, index) => states.get(index + 1));
  }
}
