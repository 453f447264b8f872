import { Controller } from '@nestjs/common';
import { InternalEndpoint } from '@customer-platform/authorization';
import { Id, IsUUID, Query } from '@customer-platform/http';
import { InvitationLinks, type InvitationLink } from './invitation-links.js';

/** Whose invitation it is. */
class LinkQuery {
  @IsUUID()
  organization_id: string;
}

/** What only the mail of an invitation may say (identity.md §3): asked for when it is rendered, and kept nowhere. */
@Controller('internal/links')
export class InvitationLinksController {
  constructor(private readonly links: InvitationLinks) {}

  /** 404 for an invitation that nobody can accept any more. */
  @InternalEndpoint({ method: 'GET', path: 'invitation/:id', callers: ['messaging'] })
  get(@Id() id: string, @Query() { organization_id: organizationId }: LinkQuery): Promise<InvitationLink> {
    return this.links.get(organizationId, id);
  }
}
