import type { OrganizationDto } from './organization.dto.js';
import type { Organization } from './organization.entity.js';
import {
  effectiveSettings,
  type OrganizationSettings,
  type RateLimits,
} from '../vocabulary/organizations/organization-settings.js';

/** An organization with the rate limits that hold for it, which depend on those above it. */
export interface SeenOrganization {
  readonly organization: Organization;
  readonly limits: RateLimits;
  /** What holds where it says nothing. */
  readonly mfaPolicy: OrganizationSettings['mfa_policy'];
}

export function toOrganizationDto({ organization, limits, mfaPolicy }: SeenOrganization): OrganizationDto {
  return {
    id: organization.id,
    parent_id: organization.parentId,
    name: organization.name,
    slug: organization.slug,
    status: organization.status,
    locale: organization.locale,
    timezone: organization.timezone,
    settings: effectiveSettings(organization.settings, limits, mfaPolicy),
    created_at: organization.createdAt.toISOString(),
    updated_at: organization.updatedAt.toISOString(),
    deleted_at: organization.deletedAt?.toISOString() ?? null,
  };
}
