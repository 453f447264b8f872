import { Injectable } from '@nestjs/common';
import type { Transaction } from '@customer-platform/database';
import { asksForSome, attributePathsOf } from '../../vocabulary/rules/attribute-paths.js';
import { beginRegistration, keysBeingConverted, RAISE_REVISION } from './rule-registry.js';

const RULES = `SELECT id, rule FROM segments WHERE organization_id = $1 AND deleted_at IS NULL ORDER BY id`;

const HOLD = `
  INSERT INTO segment_builds (organization_id, segment_id, cause, correlation_id, phase)
  SELECT $1, id, 'rule_change', $3, $4 FROM unnest($2::uuid[]) AS segment (id)
  ON CONFLICT (organization_id, segment_id) DO UPDATE
    SET cause = excluded.cause, correlation_id = excluded.correlation_id, phase = excluded.phase, cursor_id = NULL`;

const BUILDING = `
  UPDATE segments SET state = 'building' WHERE organization_id = $1 AND id = ANY($2::uuid[])`;
const LOCK = `
  SELECT 1 FROM segments WHERE organization_id = $1 AND id = ANY($2::uuid[]) ORDER BY id FOR NO KEY UPDATE`;

/** Segments by what they ask of attributes, for whoever changes what is declared of these. */
@Injectable()
export class AttributeHolds {
  /**
   * Waits for all who write by what is declared now. To be called before anything else is locked, and before all that
   * follows here: see `beginRegistration`.
   */
  begin(tx: Transaction): Promise<void> {
    return beginRegistration(tx);
  }

  /** Makes old what is kept in memory of what is declared. */
  async forget(tx: Transaction): Promise<void> {
    await tx.query(RAISE_REVISION, [tx.organizationId]);
  }

  /** Answers how many live segments ask for the attribute with this key. */
  async count(tx: Transaction, key: string): Promise<number> {
    return (await segmentsAsking(tx, key)).length;
  }

  /**
   * Segments that ask for the attribute stand still: who is in them stays in them, and nobody is evaluated by values of
   * which some are converted and some are not.
   */
  async hold(tx: Transaction, key: string, correlationId: string): Promise<void> {
    await move(tx, await segmentsAsking(tx, key), 'waiting', correlationId);
  }

  /**
   * Has the segments that ask for the attribute built anew, by the type that it is declared with from now on. Those that
   * another conversion holds go on waiting.
   */
  async rebuild(tx: Transaction, key: string, correlationId: string): Promise<void> {
    const stillConverting = await keysBeingConverted(tx);
    const asking = await segmentsAsking(tx, key);
    const built = asking.filter(({ paths }) => !asksForSome(paths, stillConverting));
    await move(tx, built, 'conditions', correlationId);
  }
}

interface AskingSegment {
  readonly id: string;
  readonly paths: readonly string[];
}

async function segmentsAsking(tx: Transaction, key: string): Promise<AskingSegment[]> {
  const rows = await tx.query<{ id: string; rule: unknown }>(RULES, [tx.organizationId]);
  return rows
    .map(({ id, rule }) => ({ id, paths: attributePathsOf(rule) }))
    .filter(({ paths }) => asksForSome(paths, [key]));
}

async function move(
  tx: Transaction,
  segments: readonly AskingSegment[],
  phase: 'waiting' | 'conditions',
  correlationId: string,
): Promise<void> {
  const ids = segments.map(({ id }) => id);
  if (ids.length > 0) {
    await tx.query(LOCK, [tx.organizationId, ids]);
    await tx.query(HOLD, [tx.organizationId, ids, correlationId, phase]);
    await tx.query(BUILDING, [tx.organizationId, ids]);
  }
  // What is declared is kept in memory by the same revision, whether or not a segment asks for it.
  await tx.query(RAISE_REVISION, [tx.organizationId]);
}
