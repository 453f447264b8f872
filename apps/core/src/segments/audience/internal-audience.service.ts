import { Injectable } from '@nestjs/common';
import { Database, type Transaction } from '@customer-platform/database';
import { Problem } from '@customer-platform/problem-json';
import type { AudienceDto, AudienceMembersDto } from './audience.dto.js';

const SEGMENT = `
  SELECT state, member_count, deleted_at IS NOT NULL AS deleted FROM segments WHERE organization_id = $1 AND id = $2`;

/** By the index of those who are in a segment now, in the order in which they entered it. */
const MEMBERS = `
  SELECT id, contact_id, entered_at FROM segment_members
   WHERE organization_id = $1 AND segment_id = $2 AND left_at IS NULL AND entered_at <= $3
     AND (entered_at, id) > ($4::timestamptz, $5::uuid)
   ORDER BY entered_at, id LIMIT $6`;

const NIL = '00000000-0000-0000-0000-000000000000';

/** A segment as messaging needs to know it before it writes to its members. */
export interface Audience {
  deleted: boolean;
  /** Whether its rule has been applied to all contacts. */
  ready: boolean;
  member_count: number;
}

/** Some members of a segment, each once; `next` is null where these are the last. */
export interface AudiencePage {
  contact_ids: string[];
  next: { at: string; id: string } | null;
}

/** To whom a campaign goes that is aimed at a segment (contract.md §9). */
@Injectable()
export class InternalAudienceService {
  constructor(private readonly database: Database) {}

  /** @throws Problem `not_found` */
  find({ organization_id: organizationId, id }: AudienceDto): Promise<Audience> {
    return this.database.inOrganization({ organizationId }, async (tx) => {
      const { deleted, state, member_count } = await segmentOf(tx, id);
      return { deleted, ready: state === 'ready', member_count };
    });
  }

  /** Who entered by `until` and is still there. @throws Problem `not_found`, of a deleted segment too */
  members(body: AudienceMembersDto): Promise<AudiencePage> {
    const { organization_id: organizationId, id, until, after_at, after_id, limit } = body;
    return this.database.inOrganization({ organizationId }, async (tx) => {
      if ((await segmentOf(tx, id)).deleted) throw new Problem('not_found');
      const after = [after_at ?? '-infinity', after_id ?? NIL];
      const rows = await tx.query<{ id: string; contact_id: string; entered_at: Date }>(MEMBERS, [
        organizationId,
        id,
        until,
        ...after,
        limit,
      ]);
      const last = rows.length < limit ? undefined : rows.at(-1);
      return {
        contact_ids: rows.map(({ contact_id }) => contact_id),
        next: last ? { at: last.entered_at.toISOString(), id: last.id } : null,
      };
    });
  }
}

async function segmentOf(
  tx: Transaction,
  id: string,
): Promise<{ state: string; member_count: number; deleted: boolean }> {
  const [segment] = await tx.query<{ state: string; member_count: number; deleted: boolean }>(SEGMENT, [
    tx.organizationId,
    id,
  ]);
  if (!segment) throw new Problem('not_found');
  return segment;
}
