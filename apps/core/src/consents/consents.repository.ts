import { Injectable } from '@nestjs/common';
import { pageOf, pageOfOwners, type Transaction } from '@customer-platform/database';
import type { ListQuery, Page } from '@customer-platform/http';
import type { ConsentEventRow, ConsentStateRow, ConsentStatus } from './consent.js';

const COLUMNS = `id, contact_id, purpose, channel, status, notice_version, notice_hash, method, legal_basis, jurisdiction,
  evidence, pii_categories, recipients, storage_locations, retention, withdrawal_method, expires_at, occurred_at,
  controller, actor_type, actor_id, impersonator_id, correlation_id, recorded_at`;

const INSERT = `
  INSERT INTO consent_events (organization_id, ${COLUMNS})
  SELECT $1, event.* FROM jsonb_to_record($2::jsonb) AS event (id uuid, contact_id uuid, purpose text, channel text,
    status text, notice_version text, notice_hash text, method text, legal_basis text, jurisdiction text,
    evidence jsonb, pii_categories text[], recipients text[], storage_locations text[], retention text,
    withdrawal_method text, expires_at timestamptz, occurred_at timestamptz, controller uuid, actor_type text,
    actor_id text, impersonator_id text, correlation_id uuid, recorded_at timestamptz)`;

const EXPIRE_LATER = `
  INSERT INTO consent_expirations (organization_id, event_id, contact_id, expires_at) VALUES ($1, $2, $3, $4)`;

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

/** The state of one pair, whether or not it was ever named itself. */
const STATE = `
  SELECT id AS event_id, occurred_at, notice_version,
         CASE WHEN status = 'granted' AND expires_at <= $5 THEN 'expired' ELSE status END AS status
    FROM consent_events
   WHERE organization_id = $1 AND contact_id = ANY($2::uuid[]) AND purpose = $3 AND occurred_at <= $5
     AND (channel IS NULL OR channel = $4)
   ORDER BY occurred_at DESC,
            array_position(ARRAY['withdrawn', 'denied', 'expired', 'granted'],
              CASE WHEN status = 'granted' AND expires_at <= $5 THEN 'expired' ELSE status END), id DESC
   LIMIT 1`;

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
  /** Adds an event; one that will end by itself also to the queue of ends. */
  async append(tx: Transaction, row: ConsentEventRow, now: Date): Promise<void> {
    await tx.query(INSERT, [tx.organizationId, JSON.stringify(row)]);
    if (row.expires_at === null || row.expires_at <= now) return;
    await tx.query(EXPIRE_LATER, [tx.organizationId, row.id, row.contact_id, row.expires_at]);
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
    pair: { readonly purpose: string; readonly channel: string | null },
    at: Date,
  ): Promise<DecidedState | undefined> {
    const { purpose, channel } = pair;
    const [state] = await tx.query<DecidedState>(STATE, [tx.organizationId, ids, purpose, channel, at]);
    return state;
  }
}
