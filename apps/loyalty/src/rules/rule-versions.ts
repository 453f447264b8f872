import { Problem } from '@customer-platform/problem-json';
import type { ResourceChange, Transaction } from '@customer-platform/database';
import type { Rule } from './rule.entity.js';
import type { RuleContent } from './rule.js';

const ADD_VERSION = `
  INSERT INTO rule_versions (organization_id, rule_id, version, event, conditions, formula, max_per_event,
    max_per_contact, valid_from, valid_to, expires_after_days, enabled, created_at)
  SELECT organization_id, id, version, event, conditions, formula, max_per_event, max_per_contact, valid_from,
    valid_to, expires_after_days, enabled, updated_at
    FROM rules WHERE organization_id = $1 AND id = $2
  ON CONFLICT DO NOTHING`;

const ADD_PERIOD = `
  INSERT INTO rule_periods (organization_id, rule_id, effective_from, version, deleted)
  VALUES ($1, $2, $3, $4, $5)`;

const RAISE_REVISION = `
  INSERT INTO rule_revisions (organization_id, revision) VALUES ($1, 1)
  ON CONFLICT (organization_id) DO UPDATE SET revision = rule_revisions.revision + 1`;

/** Keeps what a change of a rule means for events received before and after it, in the change's transaction. */
export async function keepVersion(tx: Transaction, change: ResourceChange<Rule>): Promise<void> {
  const { row, before, verb } = change;
  if (verb === 'purged') {
    // Its versions go with it; who keeps them in memory must not go on giving points by them.
    await tx.query(RAISE_REVISION, [row.organizationId]);
    return;
  }
  if (before !== undefined && before.version === row.version && verb === 'updated') return;
  await tx.query(ADD_VERSION, [row.organizationId, row.id]);
  await tx.query(ADD_PERIOD, [
    row.organizationId,
    row.id,
    row.updatedAt,
    row.version,
    row.deletedAt !== null,
  ]);
  await tx.query(RAISE_REVISION, [row.organizationId]);
}

interface VersionRow {
  event: string;
  conditions: RuleContent['conditions'];
  formula: RuleContent['formula'];
  max_per_event: string | null;
  max_per_contact: RuleContent['maxPerContact'];
  valid_from: Date;
  valid_to: Date | null;
  expires_after_days: number | null;
  enabled: boolean;
}

/** What a rule said in a version. @throws Problem `not_found` where it never had that version. */
export async function readVersion(tx: Transaction, rule: Rule, version: number): Promise<Rule> {
  const [row] = await tx.query<VersionRow>(
    'SELECT * FROM rule_versions WHERE organization_id = $1 AND rule_id = $2 AND version = $3',
    [tx.organizationId, rule.id, version],
  );
  if (row === undefined) throw new Problem('not_found', { detail: `The rule has no version ${version}.` });
  return { ...rule, ...toContent(row), version };
}

/** The content of a row of `rule_versions`. */
export function toContent(row: VersionRow): RuleContent {
  return {
    event: row.event,
    conditions: row.conditions,
    formula: row.formula,
    maxPerEvent: row.max_per_event === null ? null : Number(row.max_per_event),
    maxPerContact: row.max_per_contact,
    validFrom: row.valid_from,
    validTo: row.valid_to,
    expiresAfterDays: row.expires_after_days,
    enabled: row.enabled,
  };
}
