import { Controller } from '@nestjs/common';
import { InternalEndpoint } from '@customer-platform/authorization';
import { Database, type RetentionPage } from '@customer-platform/database';
import { IsUUID, MayBeAbsent, Query } from '@customer-platform/http';
import type { RetentionSettings } from '../vocabulary/organizations/organization-settings.js';

const AT_ONCE = 500;

/** Of a deleted or suspended organization nothing is said, and so all is kept: it may be restored, or come back. */
const WITH_RETENTION = `
  SELECT organization_id, settings -> 'retention' AS retention FROM organizations
   WHERE deleted_at IS NULL AND status = 'active' AND jsonb_typeof(settings -> 'retention') = 'object'
     AND ($1::uuid IS NULL OR organization_id > $1)
   ORDER BY organization_id LIMIT ${String(AT_ONCE)}`;

/** Where to go on. */
class RetentionQuery {
  @MayBeAbsent()
  @IsUUID()
  after?: string;
}

/** For how long organizations keep things (identity.md §2), told to the modules that remove them. */
@Controller('internal/retention')
export class InternalRetentionController {
  constructor(private readonly database: Database) {}

  /** A page of the organizations that say something of it, in the order of their ids. */
  @InternalEndpoint({ method: 'GET', callers: ['core', 'messaging'] })
  async list(@Query() { after }: RetentionQuery): Promise<RetentionPage> {
    const organizations = await this.database.acrossOrganizations((tx) =>
      tx.query<{ organization_id: string; retention: Partial<RetentionSettings> }>(WITH_RETENTION, [
        after ?? null,
      ]),
    );
    const last = organizations.at(-1);
    return {
      organizations,
      next: last && organizations.length === AT_ONCE ? last.organization_id : null,
    };
  }
}
