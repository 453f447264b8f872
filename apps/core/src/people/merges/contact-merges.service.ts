import { Injectable } from '@nestjs/common';
import { Database, pageOf } from '@customer-platform/database';
import type { ListQuery, Page, RequestContext } from '@customer-platform/http';
import { ContactLookup } from '../contacts/contact-lookup.js';
import type { MergedAway } from '../contacts/contacts.service.js';
import type { ContactMergeDto } from './merge.dto.js';
import type { MovedCounts } from './merge-outcome.js';

/**
 * `undoable` says of each what its undo would be answered. Fields go by name alone, and who was merged by name while that
 * lasts: else the values are of somebody who has parted. Each of the two ids has an index of its own.
 */
export const MERGES_OF_CONTACT = `
  WITH own AS MATERIALIZED (
    SELECT * FROM contact_merges WHERE organization_id = $1 AND survivor_id = ANY($2::uuid[])
    UNION ALL
    SELECT * FROM contact_merges
     WHERE organization_id = $1 AND merged_id = ANY($2::uuid[]) AND survivor_id <> ALL($2::uuid[]))
  SELECT merge.id, merge.status, merge.survivor_id, merge.merged_id, merge.reason, merge.merged_at, merge.undone_at,
         merge.outcome -> 'moved' AS moved, ARRAY(
           SELECT jsonb_build_object('field', one.field -> 'field', 'kept', one.field -> 'kept')
             FROM jsonb_array_elements(merge.outcome -> 'fields') WITH ORDINALITY AS one (field, place)
            ORDER BY one.place) AS fields,
         CASE WHEN merge.status = 'merged' THEN jsonb_build_object(
           'first_name', merged.first_name, 'last_name', merged.last_name, 'email', merged.email,
           'phone', merged.phone, 'external_id', merged.external_id) END AS merged_contact,
         merge.status = 'merged' AND survivor.merged_into IS NULL AND survivor.erased_at IS NULL
           AND merged.erased_at IS NULL AND NOT EXISTS (
             SELECT FROM contact_merges AS later
              WHERE later.organization_id = $1 AND later.survivor_id = merge.survivor_id AND later.status = 'merged'
                AND later.place > merge.place) AS undoable
    FROM own AS merge
    JOIN contacts AS survivor ON survivor.organization_id = $1 AND survivor.id = merge.survivor_id
    JOIN contacts AS merged ON merged.organization_id = $1 AND merged.id = merge.merged_id`;

interface ContactMergeRow {
  id: string;
  status: ContactMergeDto['status'];
  survivor_id: string;
  merged_id: string;
  reason: string | null;
  fields: ContactMergeDto['fields'];
  merged_contact: ContactMergeDto['merged_contact'];
  moved: MovedCounts;
  undoable: boolean;
  merged_at: Date;
  undone_at: Date | null;
}

/** The merges of one contact (core.md §4). */
@Injectable()
export class ContactMergesService {
  constructor(
    private readonly database: Database,
    private readonly lookup: ContactLookup,
  ) {}

  /**
   * One page of the merges of a contact and of all who are merged into it; of a merged contact its survivor.
   * @throws Problem `not_found` for a contact that never was, of another organization, or erased
   */
  page(
    context: RequestContext,
    contactId: string,
    query: ListQuery,
  ): Promise<Page<ContactMergeDto> | MergedAway> {
    return this.database.inOrganization(context, async (tx) => {
      const contact = await this.lookup.read(tx, contactId);
      if ('survivorId' in contact) return contact;
      return pageOf<ContactMergeRow, ContactMergeDto>(tx, MERGES_OF_CONTACT, query, {
        parameters: [tx.organizationId, contact.ids],
        map: toContactMergeDto,
        largeRows: true,
      });
    });
  }
}

function toContactMergeDto(row: ContactMergeRow): ContactMergeDto {
  return {
    ...row,
    merged_at: row.merged_at.toISOString(),
    undone_at: row.undone_at?.toISOString() ?? null,
  };
}
