import type { AudienceMember, AudienceSource } from '@customer-platform/database';

const SEGMENT = `
  SELECT state, member_count, deleted_at IS NOT NULL AS deleted FROM segments WHERE organization_id = $1 AND id = $2`;

/** Goes by the index of those who are in a segment now, in the order in which they entered it. */
const MEMBERS = `
  SELECT contact_id, entered_at AS at, id FROM segment_members
   WHERE organization_id = $1 AND segment_id = $2 AND left_at IS NULL AND entered_at <= $3
     AND (entered_at, id) > ($4::timestamptz, $5::uuid)
   ORDER BY entered_at, id LIMIT $6`;

/** The segments that a campaign may be aimed at (contract.md §9). */
export const SEGMENT_AUDIENCE: AudienceSource = {
  async find(tx, id) {
    const [segment] = await tx.query<{ state: string; member_count: number; deleted: boolean }>(SEGMENT, [
      tx.organizationId,
      id,
    ]);
    if (!segment) return undefined;
    const { state, ...known } = segment;
    return { ...known, ready: state === 'ready' };
  },

  members: (tx, { id, until, afterAt, afterId, limit }) =>
    tx.query<AudienceMember>(MEMBERS, [tx.organizationId, id, until, afterAt, afterId, limit]),
};
