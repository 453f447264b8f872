import type { Transaction } from '@customer-platform/database';
import { scoreOf, type Reason } from './signals.js';

/** Who has claimed one of the values. */
const CLAIMED = `
  DELETE FROM identity_claimants AS claimed
   USING (SELECT DISTINCT type, normal FROM unnest($2::text[], $3::text[]) AS value (type, normal)) AS value
   WHERE claimed.organization_id = $1 AND claimed.type = value.type AND claimed.normal_value = value.normal
  RETURNING claimed.contact_id AS "contactId"`;

const PAIRS = `
  SELECT id, reasons FROM merge_suggestions
   WHERE organization_id = $1 AND (first_id = ANY($2::uuid[]) OR second_id = ANY($2::uuid[]))
   ORDER BY id FOR UPDATE`;

const SET_REASONS = `
  UPDATE merge_suggestions SET reasons = $3, score = $4, updated_at = now() WHERE organization_id = $1 AND id = $2`;

/** A value that nobody is to be known by any more. */
export interface WithdrawnValue {
  readonly type: string;
  readonly normal: string;
}

/** Takes values out of all that rests on them: who has claimed them, and the suggestions of pairs that both did. */
export async function withdrawValues(tx: Transaction, values: readonly WithdrawnValue[]): Promise<void> {
  if (values.length === 0) return;
  const claimed = await tx.query<{ contactId: string }>(CLAIMED, [
    tx.organizationId,
    values.map(({ type }) => type),
    values.map(({ normal }) => normal),
  ]);
  if (claimed.length === 0) return;
  const withdrawn = new Set(values.map(({ type, normal }) => `${type} ${normal}`));
  const contactIds = [...new Set(claimed.map(({ contactId }) => contactId))];
  const pairs = await tx.query<{ id: string; reasons: Reason[] }>(PAIRS, [tx.organizationId, contactIds]);
  for (const { id, reasons } of pairs) {
    const left = reasons.filter(({ type, value }) => !withdrawn.has(`${type} ${value}`));
    if (left.length === reasons.length) continue;
    await tx.query(SET_REASONS, [tx.organizationId, id, JSON.stringify(left), scoreOf(left)]);
  }
}
