import { Injectable } from '@nestjs/common';
import type { WorkerTransaction } from '@customer-platform/database';
import { lockOf } from '../../vocabulary/addresses/address-keys.js';
import type { SendState } from '../../vocabulary/sends/send-state.js';
import type { MatchedReport, PendingReport, ReportKey } from './report-row.js';

/** A report to be stored. */
export interface NewReport extends ReportKey {
  readonly event: string;
  readonly provider_event_id: string | null;
  readonly bounce_type: string | null;
  readonly named_send: string | null;
  readonly occurred_at: Date;
}

const KEYS = `(organization_id uuid, provider text, provider_message_id text, event_key text)`;

const STORE = `
  INSERT INTO provider_reports (organization_id, provider, provider_message_id, event_key, event, provider_event_id,
    bounce_type, named_send, occurred_at, received_at, due_at)
  SELECT organization_id, provider, provider_message_id, event_key, event, provider_event_id, bounce_type, named_send,
    occurred_at, $2, $3
    FROM jsonb_populate_recordset(NULL::provider_reports, $1::jsonb)
  ON CONFLICT DO NOTHING`;

const SEND = [
  'id',
  'state',
  'channel',
  'category',
  'topic',
  'contact_id',
  'metadata',
  'correlation_id',
  'event_id',
]
  .concat('organization_id', 'attempts', 'address', 'address_key')
  .map((column) => `s.${column} AS s_${column}`)
  .concat(`CASE WHEN s.source = 'campaign' THEN s.source_id END AS s_campaign_id`)
  .join(', ');

/**
 * With its send: the organization's own by either id, identity's mail not being its own to report on; in the platform's
 * account by the message's, of whomever it is.
 * Each of the two has an index of its own.
 */
const PENDING = `
  SELECT r.organization_id, r.provider, r.provider_message_id, r.event_key, r.event, r.provider_event_id,
         r.bounce_type, r.occurred_at, ${SEND}
    FROM jsonb_to_recordset($1::jsonb) AS k ${KEYS}
    JOIN provider_reports r USING (organization_id, provider, provider_message_id, event_key)
    LEFT JOIN LATERAL (
      (SELECT * FROM sends o WHERE o.organization_id = r.organization_id
          AND o.provider_message_id = r.provider_message_id AND o.source <> 'identity' LIMIT 1)
      UNION ALL
      (SELECT * FROM sends n WHERE n.organization_id = r.organization_id AND n.id = r.named_send
          AND n.source <> 'identity')
      UNION ALL
      (SELECT * FROM sends p WHERE r.organization_id = $2 AND p.by_platform
          AND p.provider_message_id = r.provider_message_id LIMIT 1)
      LIMIT 1) s ON true
   WHERE r.applied_at IS NULL`;

const SOFT = `
  UPDATE provider_reports r SET address_key = m.address_key
    FROM jsonb_to_recordset($1::jsonb) AS m (organization_id uuid, provider text, provider_message_id text,
      event_key text, address_key text)
   WHERE r.organization_id = m.organization_id AND r.provider = m.provider
     AND r.provider_message_id = m.provider_message_id AND r.event_key = m.event_key`;

/**
 * Ten in a row within five days with a new one among them, in whatever order they became known: what was counted
 * before, and may have been lifted since, counts only together with it. A key is of one address in one organization.
 * Whatever is stored of an address, a new one is seen with its nearest neighbours alone: ten up to its time, itself
 * among them, and nine after.
 */
const TOO_SOFT = `
  SELECT DISTINCT fresh.address_key
    FROM (SELECT DISTINCT address_key, occurred_at
            FROM jsonb_to_recordset($1::jsonb) AS k (address_key text, occurred_at timestamptz)) AS fresh, LATERAL (
      SELECT lag(near.occurred_at, $2::int - 1) OVER (ORDER BY near.occurred_at) AS first, near.occurred_at AS last
        FROM (${neighbours('<=', 'DESC', '$2::int')} UNION ALL ${neighbours('>', 'ASC', '$2::int - 1')}) AS near) AS ten
   WHERE fresh.occurred_at BETWEEN ten.first AND ten.last AND ten.last <= ten.first + interval '5 days'`;

/** Those of these addresses that nothing is handed to any more: there is nothing left to count for. */
const SUPPRESSED = `
  SELECT s.key FROM suppressions s
    JOIN (SELECT DISTINCT s_organization_id, s_channel, address_key
            FROM jsonb_to_recordset($1::jsonb) AS k (s_organization_id uuid, s_channel text, address_key text)) AS k
      ON s.organization_id = k.s_organization_id AND s.channel = k.s_channel AND s.key = k.address_key`;

function neighbours(side: '<=' | '>', order: 'DESC' | 'ASC', most: string): string {
  return `(SELECT r.occurred_at FROM provider_reports r
            WHERE r.address_key = fresh.address_key AND r.event = 'bounced' AND r.bounce_type = 'soft'
              AND r.occurred_at ${side} fresh.occurred_at
            ORDER BY r.occurred_at ${order} LIMIT ${most})`;
}

const SETTLE = `
  UPDATE provider_reports r SET applied_at = $2, due_at = NULL, send_id = m.s_id
    FROM jsonb_to_recordset($1::jsonb) AS m (organization_id uuid, provider text, provider_message_id text,
      event_key text, s_id uuid)
   WHERE r.organization_id = m.organization_id AND r.provider = m.provider
     AND r.provider_message_id = m.provider_message_id AND r.event_key = m.event_key AND r.applied_at IS NULL
  RETURNING r.organization_id, r.provider, r.provider_message_id, r.event_key`;

/** One that stays where it is is written only where something is reported of it for the first time. */
const MOVE = `
  UPDATE sends s SET state = coalesce(m.state, s.state), reason = CASE WHEN m.state IS NULL THEN s.reason ELSE m.reason END,
         reached = s.reached | m.reached, updated_at = $5
    FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $6::int[]) AS m (organization_id, id, state, reason, reached)
   WHERE s.organization_id = m.organization_id AND s.id = m.id
     AND (m.state IS NOT NULL OR s.reached & m.reached <> m.reached)`;

/** Waits as long again as it has waited already, at most five minutes: its send is mostly known a moment later. */
const DUE = `
  WITH piece AS (
    SELECT organization_id, provider, provider_message_id, event_key FROM provider_reports
     WHERE due_at <= $1 AND ($3::uuid[] IS NULL OR organization_id = ANY($3)) AND organization_id <> ALL($4::uuid[])
     ORDER BY due_at LIMIT $2 FOR UPDATE SKIP LOCKED
  )
  UPDATE provider_reports r SET due_at = $1 + least(greatest($1 - received_at, interval '1 s'), interval '5 min')
    FROM piece
   WHERE r.organization_id = piece.organization_id AND r.provider = piece.provider
     AND r.provider_message_id = piece.provider_message_id AND r.event_key = piece.event_key
  RETURNING r.organization_id, r.provider, r.provider_message_id, r.event_key`;

const OWNERS = 'SELECT DISTINCT organization_id AS id FROM provider_reports WHERE due_at <= $1';

/** Where soft bounces of an address are counted, and nothing else waits. */
const softLockOf = (key: string): string => lockOf(`soft bounces ${key}`);

/** The table `provider_reports`. */
@Injectable()
export class ReportsRepository {
  /** Stores what is new; a repeat leaves the first. */
  async store(tx: WorkerTransaction, reports: readonly NewReport[], now: Date, due: Date): Promise<void> {
    await tx.query(STORE, [JSON.stringify(reports), now, due]);
  }

  /** Those of them that have not been applied, with their sends. */
  async pending(tx: WorkerTransaction, keys: readonly ReportKey[], nobody: string): Promise<PendingReport[]> {
    return tx.query<PendingReport>(PENDING, [JSON.stringify(keys.map(toKey)), nobody]);
  }

  /**
   * Notes whose these soft bounces are; of the addresses that are not suppressed yet, those that have had too many.
   * Repeatable.
   */
  async countSoft(
    tx: WorkerTransaction,
    reports: readonly MatchedReport[],
    most: number,
  ): Promise<Set<string>> {
    const rows = reports.map((report) => ({
      ...toKey(report),
      s_organization_id: report.s_organization_id,
      s_channel: report.s_channel,
      address_key: report.s_address_key,
      occurred_at: report.occurred_at,
    }));
    const locks = [...new Set(rows.map(({ address_key: key }) => softLockOf(key ?? '')))].sort();
    // One at a time for each address, or two that make it ten would each see nine.
    for (const lock of locks) await tx.query('SELECT pg_advisory_xact_lock($1)', [lock]);
    await tx.query(SOFT, [JSON.stringify(rows)]);
    const suppressed = await tx.query<{ key: string }>(SUPPRESSED, [JSON.stringify(rows)]);
    const done = new Set<string | null>(suppressed.map(({ key }) => key));
    const counting = rows.filter((row) => !done.has(row.address_key));
    if (counting.length === 0) return new Set();
    // By the index alone, in its order: by statistics, it would rather read and sort all of an address with thousands.
    await tx.query('SET LOCAL enable_sort = off');
    const found = await tx.query<{ address_key: string }>(TOO_SOFT, [JSON.stringify(counting), most]);
    await tx.query('SET LOCAL enable_sort TO DEFAULT');
    return new Set(found.map((row) => row.address_key));
  }

  /** Locks the sends and gives the state each is in now. */
  async lockSends(tx: WorkerTransaction, reports: readonly MatchedReport[]): Promise<Map<string, SendState>> {
    const rows = await tx.query<{ id: string; state: SendState }>(
      `SELECT id, state FROM sends WHERE (organization_id, id) IN (SELECT * FROM unnest($1::uuid[], $2::uuid[]))
        ORDER BY organization_id, id FOR UPDATE`,
      [reports.map((one) => one.s_organization_id), reports.map((one) => one.s_id)],
    );
    return new Map(rows.map(({ id, state }) => [id, state]));
  }

  /** Marks reports as applied. @returns those that nobody else had applied meanwhile */
  async settle(
    tx: WorkerTransaction,
    reports: readonly (ReportKey & { readonly s_id: string | null })[],
    now: Date,
  ): Promise<ReportKey[]> {
    const rows = reports.map((report) => ({ ...toKey(report), s_id: report.s_id }));
    return tx.query<ReportKey>(SETTLE, [JSON.stringify(rows), now]);
  }

  /** Moves sends to the states that their reports lead to, and notes what was reported of them besides. */
  async move(
    tx: WorkerTransaction,
    moves: readonly {
      organizationId: string;
      id: string;
      state: SendState | null;
      reason: string | null;
      reached: number;
    }[],
    now: Date,
  ): Promise<void> {
    if (moves.length === 0) return;
    await tx.query(MOVE, [
      moves.map(({ organizationId }) => organizationId),
      moves.map(({ id }) => id),
      moves.map(({ state }) => state),
      moves.map(({ reason }) => reason),
      now,
      moves.map(({ reached }) => reached),
    ]);
  }

  /** Takes up those that are due to be looked at again. @param of organizations; null: all */
  async takeDue(
    tx: WorkerTransaction,
    now: Date,
    most: number,
    { of, without }: { readonly of: readonly string[] | null; readonly without: readonly string[] },
  ): Promise<ReportKey[]> {
    return tx.query<ReportKey>(DUE, [now, most, of, without]);
  }

  /** The organizations of which any is due. */
  async ownersOfDue(tx: WorkerTransaction, now: Date): Promise<string[]> {
    const rows = await tx.query<{ id: string }>(OWNERS, [now]);
    return rows.map(({ id }) => id);
  }
}

function toKey({ organization_id, provider, provider_message_id, event_key }: ReportKey): ReportKey {
  return { organization_id, provider, provider_message_id, event_key };
}
