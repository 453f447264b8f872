import { Injectable } from '@nestjs/common';
import type { Transaction } from '@customer-platform/database';
import { identifierForms } from '@customer-platform/http';

/** From a contact along its merges to the one that stands for it now; nobody where that one is deleted or erased. */
const ACTIVE = `
  WITH RECURSIVE line AS (
    SELECT id, merged_into, deleted_at, erased_at, members_from FROM contacts WHERE organization_id = $1 AND id = $2
    UNION
    SELECT next.id, next.merged_into, next.deleted_at, next.erased_at, next.members_from
      FROM line JOIN contacts AS next ON next.id = line.merged_into
     WHERE next.organization_id = $1)
  SELECT id, members_from FROM line WHERE merged_into IS NULL AND deleted_at IS NULL AND erased_at IS NULL`;

const OWNER = `
  SELECT contact_id FROM identities
   WHERE organization_id = $1 AND type = 'external_id' AND normal_value = ANY($2::text[]) AND yielded_at IS NULL
   ORDER BY array_position($2::text[], normal_value) LIMIT 1`;

/** A contact that can be a member. */
interface ActiveContact {
  readonly id: string;
  /** Tokens from before this are ended. */
  readonly members_from: Date | null;
}

/** Which contact a member is. */
@Injectable()
export class MemberContacts {
  /** The active contact that stands for this one: itself, or where it was merged into. */
  async active(tx: Transaction, contactId: string): Promise<ActiveContact | undefined> {
    const [contact] = await tx.query<ActiveContact>(ACTIVE, [tx.organizationId, contactId]);
    return contact;
  }

  /** The same, of the contact that has this external id; none is made. */
  async activeByExternalId(tx: Transaction, externalId: string): Promise<string | undefined> {
    const forms = identifierForms(externalId);
    const [owner] = await tx.query<{ contact_id: string }>(OWNER, [tx.organizationId, forms]);
    const contact = owner && (await this.active(tx, owner.contact_id));
    return contact?.id;
  }
}
