import type { OrganizationDto } from './organization.dto.js';
import type { Organization } from './organization.entity.js';
import { effectiveSettings, type RateLimits } from './organization-settings.js';

/** An organization with the rate limits that hold for it, which depend on those above it. */
export interface SeenOrganization {
  readonly organization: Organization;
  readonly limits: RateLimits;
}

export function toOrganizationDto({ organization, limits }: SeenOrganization): OrganizationDto {
  return {
    id: organization.id,
    parent_id: organization.parentId,
    name: organization.name,
    slug: organization.slug,
    status: organization.status,
    locale: organization.locale,
    timezone: organization.timezone,
    settings: effectiveSettings(organization.settings, limits),
    created_at: organization.createdAt.toISOString(),
    updated_at: organization.updatedAt.toISOString(),
    deleted_at: organization.deletedAt?.toISOString() ?? null,
  };
}
