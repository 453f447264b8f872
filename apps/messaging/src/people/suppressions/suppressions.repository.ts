import { Injectable } from '@nestjs/common';
import type { Transaction } from '@customer-platform/database';
import type { Channel } from '../../vocabulary/addresses/channel.js';
import type { SuppressionRow } from '../../vocabulary/suppressions/suppression.js';

const COLUMNS = 'id, channel, scope, key, address, reason, note, created_by, created_at, updated_at';

/** Blanks the key of one whose person was erased, too: what was lifted blocks nobody. */
const LIFT = `
  WITH gone AS (
    DELETE FROM suppressions WHERE organization_id = $1 AND id = ANY($2::uuid[]) RETURNING ${COLUMNS}
  ), kept AS (
    INSERT INTO lifted_suppressions (organization_id, id, channel, scope, key, address, reason, note, created_by,
                                     created_at, lifted_by_type, lifted_by_id, lifted_at)
    SELECT $1, id, channel, scope, CASE WHEN address IS NOT NULL THEN key END, address, reason, note, created_by,
           created_at, $3, $4, $5 FROM gone
  )
  SELECT ${COLUMNS} FROM gone`;

/** Those that stand, and those that were lifted, with the same columns. */
export const STANDING_SUPPRESSIONS = `
  SELECT ${COLUMNS}, NULL::text AS lifted_by_type, NULL::uuid AS lifted_by_id, NULL::timestamptz AS lifted_at
    FROM suppressions WHERE organization_id = $1`;
export const LIFTED_SUPPRESSIONS = `
  SELECT id, channel, scope, key, address, reason, note, created_by, created_at, lifted_at AS updated_at,
         lifted_by_type, lifted_by_id, lifted_at
    FROM lifted_suppressions WHERE organization_id = $1`;

/** Each by its whole key: of an organization that has very many suppressions no plan may read all. */
const BLOCKING = `
  SELECT found.channel, found.key FROM unnest($2::text[], $3::text[]) AS asked (channel, key),
         LATERAL (SELECT known.channel, known.key FROM suppressions AS known
                   WHERE known.organization_id = $1 AND known.channel = asked.channel AND known.key = asked.key
                  OFFSET 0) AS found`;

/** The tables `suppressions` and `lifted_suppressions`. Rows come into being by `Suppressions.add` alone, under the gate's locks. */
@Injectable()
export class SuppressionsRepository {
  /** Under which of these keys, of addresses, of them without tag, or of their domains, a suppression stands. */
  async blocking(
    tx: Transaction,
    asked: readonly { channel: Channel; keys: readonly string[] }[],
  ): Promise<(channel: Channel, key: string) => boolean> {
    const pairs = asked.flatMap(({ channel, keys }) => keys.map((key) => ({ channel, key })));
    if (pairs.length === 0) return () => false;
    const rows = await tx.prepared<{ channel: Channel; key: string }>(BLOCKING, [
      tx.organizationId,
      pairs.map(({ channel }) => channel),
      pairs.map(({ key }) => key),
    ]);
    const found = new Set(rows.map(({ channel, key }) => `${channel}/${key}`));
    return (channel, key) => found.has(`${channel}/${key}`);
  }

  /** Which of these keys of addresses are suppressed for this reason. */
  async withReason(
    tx: Transaction,
    channel: Channel,
    reason: SuppressionRow['reason'],
    keys: readonly string[],
  ): Promise<Set<string>> {
    const rows = await tx.query<{ key: string }>(
      `SELECT key FROM suppressions WHERE organization_id = $1 AND channel = $2 AND reason = $3 AND key = ANY($4)`,
      [tx.organizationId, channel, reason, keys],
    );
    return new Set(rows.map(({ key }) => key));
  }

  /** The row of exactly this address or domain, under whichever live pepper it was stored. */
  async find(
    tx: Transaction,
    channel: Channel,
    keys: readonly string[],
  ): Promise<SuppressionRow | undefined> {
    const [row] = await tx.prepared<SuppressionRow>(
      `SELECT ${COLUMNS} FROM suppressions WHERE organization_id = $1 AND channel = $2 AND key = ANY($3)
       ORDER BY created_at LIMIT 1`,
      [tx.organizationId, channel, keys],
    );
    return row;
  }

  async insert(tx: Transaction, row: SuppressionRow): Promise<void> {
    await tx.prepared(
      `INSERT INTO suppressions (organization_id, ${COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
      [
        tx.organizationId,
        row.id,
        row.channel,
        row.scope,
        row.key,
        row.address,
        row.reason,
        row.note,
        JSON.stringify(row.created_by),
        row.created_at,
        row.updated_at,
      ],
    );
  }

  /** Locks rows by id until the transaction ends. @returns the ids of those that are there */
  async lock(tx: Transaction, ids: readonly string[]): Promise<string[]> {
    const rows = await tx.query<{ id: string }>(
      'SELECT id FROM suppressions WHERE organization_id = $1 AND id = ANY($2::uuid[]) FOR UPDATE',
      [tx.organizationId, ids],
    );
    return rows.map(({ id }) => id);
  }

  /** Takes rows by id out of the gate's way, keeps who did it, and returns them. */
  async lift(
    tx: Transaction,
    ids: readonly string[],
    by: { readonly type: string; readonly id: string },
    now: Date,
  ): Promise<SuppressionRow[]> {
    return tx.query<SuppressionRow>(LIFT, [tx.organizationId, ids, by.type, by.id, now]);
  }

  /** The prefixes of all stored keys: which peppers rows still need. */
  async prefixes(tx: Transaction, length: number): Promise<string[]> {
    const rows = await tx.query<{ prefix: string }>(
      `SELECT DISTINCT left(key, $1) AS prefix FROM suppressions
       UNION SELECT DISTINCT left(key, $1) FROM lifted_suppressions WHERE key IS NOT NULL
       UNION SELECT DISTINCT left(subject, $1) FROM preferences WHERE subject NOT LIKE 'contact:%'`,
      [length],
    );
    return rows.map(({ prefix }) => prefix);
  }
}
