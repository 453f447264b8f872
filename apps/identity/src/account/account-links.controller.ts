import { Controller } from '@nestjs/common';
import { InternalEndpoint } from '@customer-platform/authorization';
import { Id, IsUUID, Query } from '@customer-platform/http';
import { AccountLinks, type AccountLink } from './account-links.js';

/** Names the organization in which it happened. */
class AccountLinkQuery {
  @IsUUID()
  organization_id: string;
}

/** Tells messaging what the mail about a change of an account says (identity.md §3), when it is rendered. */
@Controller('internal/links')
export class AccountLinksController {
  constructor(private readonly links: AccountLinks) {}

  /** 404 for who has no account any more. */
  @InternalEndpoint({ method: 'GET', path: 'account/:id', callers: ['messaging'] })
  get(
    @Id() id: string,
    @Query() { organization_id: organizationId }: AccountLinkQuery,
  ): Promise<AccountLink> {
    return this.links.get(organizationId, id);
  }
}
