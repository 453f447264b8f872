import type { AudienceMember, AudienceSource } from '@customer-platform/database';

const LIST = `
  SELECT member_count, deleted_at IS NOT NULL AS deleted FROM lists WHERE organization_id = $1 AND id = $2`;

/** Goes by the index of those who are shown on a list, in the order in which they came. */
const MEMBERS = `
  SELECT contact_id, added_at AS at, contact_id AS id FROM list_members
   WHERE organization_id = $1 AND list_id = $2 AND shown AND added_at <= $3
     AND (added_at, contact_id) > ($4::timestamptz, $5::uuid)
   ORDER BY added_at, contact_id LIMIT $6`;

/** The lists that a campaign may be aimed at (contract.md §9). */
export const LIST_AUDIENCE: AudienceSource = {
  async find(tx, id) {
    const [list] = await tx.query<{ member_count: number; deleted: boolean }>(LIST, [tx.organizationId, id]);
    // Nothing has to be applied before its members are known.
    return list && { ...list, ready: true };
  },

  members: (tx, { id, until, afterAt, afterId, limit }) =>
    tx.query<AudienceMember>(MEMBERS, [tx.organizationId, id, until, afterAt, afterId, limit]),
};
