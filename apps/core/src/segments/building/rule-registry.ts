import { newId, type ResourceChange, type Transaction } from '@customer-platform/database';
import { asksForSome, attributePathsOf } from '../../vocabulary/rules/attribute-paths.js';
import { parseRule } from '../../vocabulary/rules/parse-rule.js';
import { leavesOf } from '../../vocabulary/rules/rule.js';
import type { Segment } from '../segment.entity.js';
import type { Cause } from '../../following/segment-follower.js';

/** Waits until all that is written by the present segments is committed, and keeps new writers waiting. */
const LOCK = `SELECT pg_advisory_xact_lock(hashtextextended('segments:' || $1::text, 0))`;

/** What is kept in memory of an organization's segments and attributes is old from here on. */
export const RAISE_REVISION = `
  INSERT INTO segment_revisions (organization_id, revision) VALUES ($1, 1)
  ON CONFLICT (organization_id) DO UPDATE SET revision = segment_revisions.revision + 1`;

const ADD_CONDITIONS = `
  INSERT INTO segment_conditions (organization_id, id, event, fingerprint, state)
  SELECT $1, id, event, fingerprint, 'building'
    FROM unnest($2::uuid[], $3::text[], $4::text[]) AS condition (id, event, fingerprint)
   ORDER BY fingerprint
  ON CONFLICT (organization_id, fingerprint) WHERE state <> 'dropped' DO NOTHING`;

const USE = `
  INSERT INTO segment_condition_uses (organization_id, segment_id, condition_id)
  SELECT $1, $2, id FROM segment_conditions
   WHERE organization_id = $1 AND fingerprint = ANY($3::text[]) AND state <> 'dropped'`;

const USE_NO_MORE = 'DELETE FROM segment_condition_uses WHERE organization_id = $1 AND segment_id = $2';

const DROP_UNUSED = `
  UPDATE segment_conditions AS condition SET state = 'dropped'
   WHERE organization_id = $1 AND state <> 'dropped' AND NOT EXISTS (
     SELECT FROM segment_condition_uses AS used
      WHERE used.organization_id = $1 AND used.condition_id = condition.id)`;

const BUILD = `
  INSERT INTO segment_builds (organization_id, segment_id, cause, correlation_id, phase)
  VALUES ($1, $2, $3, $4, $5)
  ON CONFLICT (organization_id, segment_id) DO UPDATE
    SET cause = excluded.cause, correlation_id = excluded.correlation_id, phase = excluded.phase, cursor_id = NULL`;

/** Attributes of which some values are converted and some are not: whoever asks for one waits. */
const CONVERTING = `
  SELECT definition.key FROM attribute_conversions AS conversion
    JOIN attribute_definitions AS definition
      ON definition.organization_id = conversion.organization_id AND definition.id = conversion.definition_id
   WHERE conversion.organization_id = $1`;

const BUILD_NO_MORE = 'DELETE FROM segment_builds WHERE organization_id = $1 AND segment_id = $2';

const BUILDING = `UPDATE segments SET state = 'building' WHERE organization_id = $1 AND id = $2`;

/** Those who were in a purged segment may be very many: they are cleared away afterwards, piece by piece. */
const REMOVE_MEMBERS = 'INSERT INTO segment_removals (organization_id, segment_id) VALUES ($1, $2)';

/**
 * Waits for all who write by the present segments. To be called before anything else is locked: they may be waiting
 * for the evaluation, and that for a segment's row.
 */
export async function beginRegistration(tx: Transaction): Promise<void> {
  await tx.query(LOCK, [tx.organizationId]);
}

/** The keys of the attributes whose values are being converted. */
export async function keysBeingConverted(tx: Transaction): Promise<string[]> {
  const rows = await tx.query<{ key: string }>(CONVERTING, [tx.organizationId]);
  return rows.map(({ key }) => key);
}

/** Keeps what evaluation must know of a segment in step with it, after {@link beginRegistration}. */
export async function register(
  tx: Transaction,
  { verb, row, changed }: ResourceChange<Segment>,
  correlationId: string,
): Promise<void> {
  if (verb === 'purged') await tx.query(REMOVE_MEMBERS, [row.organizationId, row.id]);
  if (verb === 'purged' || (verb === 'updated' && !changed.includes('rule'))) return;
  await tx.query(USE_NO_MORE, [row.organizationId, row.id]);
  if (verb === 'deleted') await tx.query(BUILD_NO_MORE, [row.organizationId, row.id]);
  else await build(tx, row, verb === 'restored' ? 'restore' : 'rule_change', correlationId);
  await tx.query(DROP_UNUSED, [row.organizationId]);
  await tx.query(RAISE_REVISION, [row.organizationId]);
}

async function build(tx: Transaction, row: Segment, cause: Cause, correlationId: string): Promise<void> {
  const { organizationId, id } = row;
  const leaves = leavesOf(parseRule(row.rule)).filter((leaf) => leaf.kind === 'event');
  const events = new Map(leaves.map(({ fingerprint, event }) => [fingerprint, event]));
  const fingerprints = [...events.keys()];
  await tx.query(ADD_CONDITIONS, [
    organizationId,
    fingerprints.map(() => newId()),
    [...events.values()],
    fingerprints,
  ]);
  await tx.query(USE, [organizationId, id, fingerprints]);
  const converting = await keysBeingConverted(tx);
  const phase = asksForSome(attributePathsOf(row.rule), converting) ? 'waiting' : 'conditions';
  await tx.query(BUILD, [organizationId, id, cause, correlationId, phase]);
  await tx.query(BUILDING, [organizationId, id]);
  row.state = 'building';
}
