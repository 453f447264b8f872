import { Injectable } from '@nestjs/common';
import { Database, type Transaction } from '@customer-platform/database';
import { Problem } from '@customer-platform/problem-json';
import type { AudienceDto, AudienceMembersDto } from './audience.dto.js';

const LIST = `
  SELECT member_count, deleted_at IS NOT NULL AS deleted FROM lists WHERE organization_id = $1 AND id = $2`;

/** By the index of those who are shown on a list, in the order in which they came. */
const MEMBERS = `
  SELECT contact_id, added_at FROM list_members
   WHERE organization_id = $1 AND list_id = $2 AND shown AND added_at <= $3
     AND (added_at, contact_id) > ($4::timestamptz, $5::uuid)
   ORDER BY added_at, contact_id LIMIT $6`;

const NIL = '00000000-0000-0000-0000-000000000000';

/** A list as messaging needs to know it before it writes to its members. */
export interface Audience {
  deleted: boolean;
  /** A list always is. */
  ready: true;
  member_count: number;
}

/** Some members of a list, each once; `next` is null where these are the last. */
export interface AudiencePage {
  contact_ids: string[];
  next: { at: string; id: string } | null;
}

/** To whom a campaign goes that is aimed at a list (contract.md §9). */
@Injectable()
export class InternalAudienceService {
  constructor(private readonly database: Database) {}

  /** @throws Problem `not_found` */
  find({ organization_id: organizationId, id }: AudienceDto): Promise<Audience> {
    return this.database.inOrganization({ organizationId }, async (tx) => {
      const list = await listOf(tx, id);
      return { ...list, ready: true };
    });
  }

  /** Who came by `until` and is still there. @throws Problem `not_found`, of a deleted list too */
  members(body: AudienceMembersDto): Promise<AudiencePage> {
    const { organization_id: organizationId, id, until, after_at, after_id, limit } = body;
    return this.database.inOrganization({ organizationId }, async (tx) => {
      if ((await listOf(tx, id)).deleted) throw new Problem('not_found');
      const after = [after_at ?? '-infinity', after_id ?? NIL];
      const rows = await tx.query<{ contact_id: string; added_at: Date }>(MEMBERS, [
        organizationId,
        id,
        until,
        ...after,
        limit,
      ]);
      const last = rows.length < limit ? undefined : rows.at(-1);
      return {
        contact_ids: rows.map(({ contact_id }) => contact_id),
        next: last ? { at: last.added_at.toISOString(), id: last.contact_id } : null,
      };
    });
  }
}

async function listOf(tx: Transaction, id: string): Promise<{ member_count: number; deleted: boolean }> {
  const [list] = await tx.query<{ member_count: number; deleted: boolean }>(LIST, [tx.organizationId, id]);
  if (!list) throw new Problem('not_found');
  return list;
}
