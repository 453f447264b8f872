import { Injectable } from '@nestjs/common';
import type { AuditEntry } from '@customer-platform/audit';
import { afterLocks, pageOf, type Clock, type Transaction } from '@customer-platform/database';
import type { ListQuery, Page } from '@customer-platform/http';
import { GENESIS, hashOf, type ChainedItem, type ChainHead, type Finding } from './audit-chain.js';
import { AUDIT_COLUMNS, itemOf, toAuditItem, type AuditItem, type AuditRow } from './audit-item.js';
import type { Checkpoint } from './checkpoint.js';

/** Rows read at once while walking a chain. */
const WALK_ROWS = 2_000;

const BEGIN_CHAIN = `
  INSERT INTO audit_chains (organization_id, head_seq, head_hash, status, signed_seq, sign_at, verify_at)
  VALUES ($1, 0, $2, 'intact', 0, $3, $3) ON CONFLICT DO NOTHING`;

const LOCK_CHAIN = `SELECT head_seq, head_hash FROM audit_chains WHERE organization_id = $1 FOR UPDATE`;

const KNOWN = `SELECT id FROM audit_log WHERE organization_id = $1 AND id = ANY($2::uuid[])`;

const APPEND = `
  INSERT INTO audit_log (organization_id, ${AUDIT_COLUMNS})
  SELECT $1, row.id, row.seq, row.occurred_at, row.actor_type, row.actor_id, row.impersonator_id, row.action, row.module,
         row.resource_type, row.resource_id, row.outcome, row.changed_fields, row.correlation_id, row.ip,
         row.user_agent, row.reason, row.created_at, decode(row.prev_hash, 'hex'), decode(row.hash, 'hex')
    FROM jsonb_to_recordset($2::jsonb) AS row (id uuid, seq bigint, occurred_at timestamptz, actor_type text,
           actor_id text, impersonator_id text, action text, module text, resource_type text, resource_id text,
           outcome text, changed_fields text[], correlation_id uuid, ip text, user_agent text, reason text,
           created_at timestamptz, prev_hash text, hash text)`;

const MOVE_HEAD = `UPDATE audit_chains SET head_seq = $2, head_hash = $3 WHERE organization_id = $1`;

const LOG = `SELECT ${AUDIT_COLUMNS} FROM audit_log WHERE organization_id = $1`;

const CHAIN = `
  SELECT head_seq, head_hash, status, broken_at_seq, verified_at, verified_seq, signed_seq,
         EXISTS (SELECT FROM audit_log WHERE organization_id = $1 AND seq > head_seq) AS overrun
    FROM audit_chains WHERE organization_id = $1`;

const NOTE_FINDING = `
  UPDATE audit_chains SET status = $2, broken_at_seq = $3, verified_at = coalesce($4, verified_at), verify_at = $5,
         verified_seq = coalesce($6, verified_seq), walked_seq = 0
   WHERE organization_id = $1`;

const NOTE_WALKED = 'UPDATE audit_chains SET walked_seq = $2, verify_at = $3 WHERE organization_id = $1';

const CHECKPOINTS = `
  SELECT organization_id, seq, encode(hash, 'hex') AS hash, kid, signature FROM audit_checkpoints
   WHERE organization_id = $1`;

/** A row of `audit_chains`. */
export interface ChainRow {
  readonly head: ChainHead;
  readonly status: 'intact' | 'broken';
  readonly brokenAtSeq: number | null;
  readonly verifiedAt: Date | null;
  /** The last row of what was found intact then. */
  readonly verifiedSeq: number | null;
  readonly signedSeq: number;
  /** Rows stand behind the head: somebody wrote them who is not this service. */
  readonly overrun: boolean;
}

interface StoredChain {
  head_seq: string;
  head_hash: Buffer;
  status: 'intact' | 'broken';
  broken_at_seq: string | null;
  verified_at: Date | null;
  verified_seq: string | null;
  signed_seq: string;
  overrun: boolean;
}

/** The chains of audit rows, their heads and their checkpoints. Rows and checkpoints are appended and read, nothing else. */
@Injectable()
export class AuditLogRepository {
  /**
   * Appends entries in their order behind the head of the transaction's organization, gapless. One that is in the log
   * already is left out. Writers of one organization wait for each other, so that the times of rows go up with their places.
   * @returns how many were not there yet
   */
  async append(tx: Transaction, entries: readonly AuditEntry[], clock: Clock): Promise<number> {
    const { organizationId } = tx;
    await tx.query(BEGIN_CHAIN, [organizationId, GENESIS, clock.now()]);
    const locked = tx.query<Pick<StoredChain, 'head_seq' | 'head_hash'>>(LOCK_CHAIN, [organizationId]);
    const [[chain], now] = await afterLocks(clock, locked);
    if (!chain) throw new Error('The chain of an organization is not there');
    const known = await tx.query<{ id: string }>(KNOWN, [organizationId, entries.map(({ id }) => id)]);
    const taken = new Set(known.map(({ id }) => id));
    let seq = Number(chain.head_seq);
    let previous = chain.head_hash;
    const rows: object[] = [];
    for (const entry of entries) {
      if (taken.has(entry.id)) continue;
      taken.add(entry.id);
      seq += 1;
      const item = itemOf(entry, seq, now);
      const hash = hashOf(previous, item);
      rows.push(toRecord(item, previous, hash));
      previous = hash;
    }
    if (rows.length === 0) return 0;
    await tx.query(APPEND, [organizationId, JSON.stringify(rows)]);
    await tx.query(MOVE_HEAD, [organizationId, seq, previous]);
    return rows.length;
  }

  /** One page of the log. */
  page(tx: Transaction, query: ListQuery): Promise<Page<AuditItem & { prev_hash: string; hash: string }>> {
    return pageOf<AuditRow, AuditItem & { prev_hash: string; hash: string }>(tx, LOG, query, {
      parameters: [tx.organizationId],
      map: (row) => ({
        ...toAuditItem(row),
        prev_hash: row.prev_hash.toString('hex'),
        hash: row.hash.toString('hex'),
      }),
    });
  }

  /** The next rows of the chain, from `after` (exclusive) to `until` (inclusive), not all at once. */
  async rows(tx: Transaction, after: number, until: number): Promise<ChainedItem[]> {
    const rows = await tx.query<AuditRow>(
      `${LOG} AND seq > $2 AND seq <= $3 ORDER BY seq LIMIT ${String(WALK_ROWS)}`,
      [tx.organizationId, after, until],
    );
    return rows.map((row) => ({ item: toAuditItem(row), prevHash: row.prev_hash, hash: row.hash }));
  }

  /** What is known of the chain; undefined before its first row. */
  async chain(tx: Transaction): Promise<ChainRow | undefined> {
    const [row] = await tx.query<StoredChain>(CHAIN, [tx.organizationId]);
    return (
      row && {
        head: { seq: Number(row.head_seq), hash: row.head_hash },
        status: row.status,
        brokenAtSeq: row.broken_at_seq === null ? null : Number(row.broken_at_seq),
        verifiedAt: row.verified_at,
        verifiedSeq: row.verified_seq === null ? null : Number(row.verified_seq),
        signedSeq: Number(row.signed_seq),
        overrun: row.overrun,
      }
    );
  }

  /** All checkpoints, or those of the chain's last `limit`; the latest first. */
  async checkpoints(tx: Transaction, limit?: number): Promise<Checkpoint[]> {
    return checkpointsOf(tx, `${CHECKPOINTS} ORDER BY seq DESC LIMIT $2`, [limit]);
  }

  /** That of the row with this number, if there is one. */
  async checkpointAt(tx: Transaction, seq: number): Promise<Checkpoint | undefined> {
    return (await checkpointsOf(tx, `${CHECKPOINTS} AND seq = $2`, [seq]))[0];
  }

  /** Those of later rows, the earliest first. */
  checkpointsAfter(tx: Transaction, seq: number, most: number): Promise<Checkpoint[]> {
    return checkpointsOf(tx, `${CHECKPOINTS} AND seq > $2 ORDER BY seq LIMIT $3`, [seq, most]);
  }

  /** Keeps a checkpoint, and when the next may be due. */
  async keepCheckpoint(tx: Transaction, checkpoint: Checkpoint, at: Date, nextAt: Date): Promise<void> {
    const { seq, hash, kid, signature } = checkpoint;
    await tx.query(
      `INSERT INTO audit_checkpoints (organization_id, seq, hash, kid, signature, created_at)
       VALUES ($1, $2, decode($3, 'hex'), $4, $5, $6)`,
      [tx.organizationId, seq, hash, kid, signature, at],
    );
    await tx.query('UPDATE audit_chains SET signed_seq = $2, sign_at = $3 WHERE organization_id = $1', [
      tx.organizationId,
      seq,
      nextAt,
    ]);
  }

  /** Notes how far a verification that goes on has come; it is another chain's turn. */
  async noteWalked(tx: Transaction, seq: number, at: Date): Promise<void> {
    await tx.query(NOTE_WALKED, [tx.organizationId, seq, at]);
  }

  /** Notes what a verification of the whole chain found; `reached` is its last row. */
  async noteFinding(
    tx: Transaction,
    { finding, reached }: { readonly finding: Finding; readonly reached: number },
    at: Date,
    nextAt: Date,
  ): Promise<void> {
    const broken = finding.status === 'broken' ? finding.atSeq : null;
    const intact = broken === null ? [at, nextAt, reached] : [null, nextAt, null];
    await tx.query(NOTE_FINDING, [tx.organizationId, finding.status, broken, ...intact]);
  }
}

async function checkpointsOf(tx: Transaction, sql: string, given: readonly unknown[]): Promise<Checkpoint[]> {
  const rows = await tx.query<Omit<Checkpoint, 'seq'> & { seq: string }>(sql, [tx.organizationId, ...given]);
  return rows.map((row) => ({ ...row, seq: Number(row.seq) }));
}

function toRecord(item: AuditItem, prevHash: Buffer, hash: Buffer): object {
  const { actor, resource, updated_at: _same, ...rest } = item;
  return {
    ...rest,
    actor_type: actor.type,
    actor_id: actor.id,
    impersonator_id: actor.impersonator_id,
    resource_type: resource.type,
    resource_id: resource.id,
    prev_hash: prevHash.toString('hex'),
    hash: hash.toString('hex'),
  };
}
