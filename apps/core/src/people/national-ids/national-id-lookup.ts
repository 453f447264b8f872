import { Injectable } from '@nestjs/common';
import { Audit } from '@customer-platform/audit';
import { Database, TenantTallies, type TallyBounds } from '@customer-platform/database';
import { tenantOf, type RequestContext } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import { readNationalId } from '../contacts/contact-fields.js';
import type { FoundContactDto, LookUpContactDto } from './national-id.dto.js';
import { demandRecord } from './national-id.service.js';
import { NationalIdVault } from './national-id.vault.js';

const MINUTE_MS = 60_000;
/** National ids are few enough to be tried one after another: so many look-ups may be made in a minute (core.md §2). */
const OF_ORGANIZATION: TallyBounds = { name: 'national_id_lookups', most: 60, spanMs: MINUTE_MS };
const OF_TENANT: TallyBounds = { name: 'national_id_lookups_of_tenant', most: 180, spanMs: MINUTE_MS };

/** Goes by the index of what is unique. */
const OWNER = `
  SELECT id FROM contacts
   WHERE organization_id = $1 AND national_id_type = $2 AND national_id_index = $3
     AND deleted_at IS NULL AND merged_into IS NULL`;

/** Finds whose a national id is (core.md §2): nobody learns it whose look-up is not on record. */
@Injectable()
export class NationalIdLookup {
  constructor(
    private readonly database: Database,
    private readonly vault: NationalIdVault,
    private readonly tallies: TenantTallies,
    private readonly audit: Audit,
  ) {}

  /**
   * The active contact that has it, once the audit row is committed. The row names the contact, or the organization where
   * there is none; never the id.
   * @throws Problem `invalid_national_id`, `placeholder_identifier`, `rate_limited`; `dependency_unavailable` when the row
   * cannot be written
   */
  async find(context: RequestContext, { national_id: sent }: LookUpContactDto): Promise<FoundContactDto> {
    const { type, value } = readNationalId(sent);
    await this.demandRoom(context);
    const { index } = this.vault.seal(context.organizationId, type, value);
    return demandRecord(() =>
      this.database.inOrganization(context, async (tx) => {
        const [owner] = await tx.query<{ id: string }>(OWNER, [tx.organizationId, type, index]);
        const resource = owner
          ? { type: 'contacts', id: owner.id }
          : { type: 'organizations', id: tx.organizationId };
        await this.audit.record(tx, context, { action: 'core.contacts.lookup', resource });
        return { contact_id: owner?.id ?? null };
      }),
    );
  }

  /** The organization first: what is refused it uses up nothing of its siblings'. */
  private async demandRoom(context: RequestContext): Promise<void> {
    const left =
      (await this.tallies.take(context.organizationId, OF_ORGANIZATION)) ??
      (await this.tallies.take(tenantOf(context), OF_TENANT));
    if (left === undefined) return;
    throw new Problem('rate_limited', {
      detail: `Too many look-ups of national ids; try again in ${String(left)} s.`,
      headers: { 'Retry-After': String(left) },
      members: { scope: 'organization' },
    });
  }
}
