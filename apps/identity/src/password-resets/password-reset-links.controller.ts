import { Controller } from '@nestjs/common';
import { InternalEndpoint } from '@customer-platform/authorization';
import { Id, IsUUID, Query } from '@customer-platform/http';
import { PasswordResetLinks, type PasswordResetLink } from './password-reset-links.js';

/** Where its user is at home. */
class ResetLinkQuery {
  @IsUUID()
  organization_id: string;
}

/** What only the mail of a reset may say (identity.md §5): asked for when it is rendered, and kept nowhere. */
@Controller('internal/links')
export class PasswordResetLinksController {
  constructor(private readonly links: PasswordResetLinks) {}

  /** 404 for a reset that nobody can use any more. */
  @InternalEndpoint({ method: 'GET', path: 'password_reset/:id', callers: ['messaging'] })
  get(
    @Id() id: string,
    @Query() { organization_id: organizationId }: ResetLinkQuery,
  ): Promise<PasswordResetLink> {
    return this.links.get(organizationId, id);
  }
}
