import { Injectable } from '@nestjs/common';
import { Database, pageOf } from '@customer-platform/database';
import type { ListQuery, Page, RequestContext } from '@customer-platform/http';
import { ContactLookup } from '../people/contacts/contact-lookup.js';
import type { MergedAway } from '../people/contacts/contacts.service.js';
import type { Cause } from '../following/segment-follower.js';
import type { ContactSegmentDto } from './segment.dto.js';

const STAYS = `
  SELECT member.id, member.segment_id, segment.name, member.entered_at, member.cause, member.left_at,
         member.left_cause
    FROM segment_members AS member
    JOIN segments AS segment ON segment.organization_id = $1 AND segment.id = member.segment_id
     AND segment.deleted_at IS NULL
   WHERE member.organization_id = $1 AND member.contact_id = $2`;

/** By the contact: each of the two has an index of its own that begins with it. */
export const CURRENT_STAYS = `${STAYS} AND member.left_at IS NULL`;
export const PAST_STAYS = `${STAYS} AND member.left_at IS NOT NULL`;

interface StayRow {
  segment_id: string;
  name: string;
  entered_at: Date;
  cause: Cause;
  left_at: Date | null;
  left_cause: Cause | null;
}

/** The segments of one contact (core.md §7). */
@Injectable()
export class ContactSegmentsService {
  constructor(
    private readonly database: Database,
    private readonly lookup: ContactLookup,
  ) {}

  /**
   * One page of the stays that last, or with `status=left` of those that have ended; of a merged contact its survivor.
   * @throws Problem `not_found` for a contact that never was, of another organization, or erased
   */
  page(
    context: RequestContext,
    contactId: string,
    query: ListQuery,
  ): Promise<Page<ContactSegmentDto> | MergedAway> {
    return this.database.inOrganization(context, async (tx) => {
      const contact = await this.lookup.read(tx, contactId);
      if ('survivorId' in contact) return contact;
      const select = query.parameters['status'] === 'left' ? PAST_STAYS : CURRENT_STAYS;
      return pageOf<StayRow, ContactSegmentDto>(tx, select, query, {
        parameters: [context.organizationId, contactId],
        map: toContactSegmentDto,
      });
    });
  }
}

function toContactSegmentDto(row: StayRow): ContactSegmentDto {
  const { segment_id, name, entered_at, cause, left_at, left_cause } = row;
  return {
    segment_id,
    name,
    entered_at: entered_at.toISOString(),
    cause,
    left_at: left_at?.toISOString() ?? null,
    left_cause,
  };
}
