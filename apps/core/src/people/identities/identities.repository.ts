import { Injectable } from '@nestjs/common';
import { pageOf, type Transaction } from '@customer-platform/database';
import type { ListQuery, Page } from '@customer-platform/http';
import type { IdentityDto } from './identity.dto.js';

const SELECT = `
  SELECT i.id, i.type, i.value, i.verified, i.source, i.first_seen_at, i.last_seen_at, i.created_at, i.updated_at,
         coalesce(i.normal_value = CASE i.type WHEN 'external_id' THEN c.external_id WHEN 'email' THEN c.email_normal
                                               WHEN 'phone' THEN c.phone END, false) AS primary
    FROM identities i JOIN contacts c ON c.organization_id = i.organization_id AND c.id = i.contact_id
   WHERE i.organization_id = $1 AND i.contact_id = $2 AND i.yielded_at IS NULL`;

const FIND = `
  SELECT id, type, normal_value AS normal, verified FROM identities
   WHERE organization_id = $1 AND contact_id = $2 AND yielded_at IS NULL`;

const OF_FORMS = `
     AND type = $3 AND normal_value = ANY($4::text[])
   ORDER BY array_position($4::text[], normal_value) LIMIT 1`;

const VERIFY = 'UPDATE identities SET verified = $3, updated_at = $4 WHERE organization_id = $1 AND id = $2';
const REMOVE = 'DELETE FROM identities WHERE organization_id = $1 AND id = $2';

interface IdentityListRow extends Omit<
  IdentityDto,
  'first_seen_at' | 'last_seen_at' | 'created_at' | 'updated_at'
> {
  first_seen_at: Date;
  last_seen_at: Date;
  created_at: Date;
  updated_at: Date;
}

/** An identity, as far as a change of it needs to know. */
export interface HeldIdentity {
  readonly id: string;
  readonly type: string;
  readonly normal: string;
  readonly verified: boolean;
}

/** The identities of a contact, in the table `identities`. */
@Injectable()
export class IdentitiesRepository {
  page(tx: Transaction, contactId: string, query: ListQuery): Promise<Page<IdentityDto>> {
    return pageOf<IdentityListRow, IdentityDto>(tx, SELECT, query, {
      parameters: [tx.organizationId, contactId],
      map: toIdentityDto,
    });
  }

  async get(tx: Transaction, contactId: string, id: string): Promise<IdentityDto | undefined> {
    const [row] = await tx.query<IdentityListRow>(`${SELECT} AND i.id = $3`, [
      tx.organizationId,
      contactId,
      id,
    ]);
    return row && toIdentityDto(row);
  }

  async byId(tx: Transaction, contactId: string, id: string): Promise<HeldIdentity | undefined> {
    const [row] = await tx.query<HeldIdentity>(`${FIND} AND id = $3`, [tx.organizationId, contactId, id]);
    return row;
  }

  /** That of the first of these forms of which there is one. */
  async byValue(
    tx: Transaction,
    contactId: string,
    type: string,
    forms: readonly string[],
  ): Promise<HeldIdentity | undefined> {
    const parameters = [tx.organizationId, contactId, type, forms];
    const [row] = await tx.query<HeldIdentity>(`${FIND} ${OF_FORMS}`, parameters);
    return row;
  }

  async verify(tx: Transaction, id: string, verified: boolean, now: Date): Promise<void> {
    await tx.query(VERIFY, [tx.organizationId, id, verified, now]);
  }

  async remove(tx: Transaction, id: string): Promise<void> {
    await tx.query(REMOVE, [tx.organizationId, id]);
  }
}

function toIdentityDto(row: IdentityListRow): IdentityDto {
  const { first_seen_at, last_seen_at, created_at, updated_at, ...rest } = row;
  return {
    ...rest,
    first_seen_at: first_seen_at.toISOString(),
    last_seen_at: last_seen_at.toISOString(),
    created_at: created_at.toISOString(),
    updated_at: updated_at.toISOString(),
  };
}
