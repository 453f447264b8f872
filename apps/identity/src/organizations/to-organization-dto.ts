import type { OrganizationDto } from './organization.dto.js';
import type { Organization } from './organization.entity.js';
import { effectiveSettings } from './organization-settings.js';

export function toOrganizationDto(organization: Organization): OrganizationDto {
  return {
    id: organization.id,
    parent_id: organization.parentId,
    name: organization.name,
    slug: organization.slug,
    status: organization.status,
    locale: organization.locale,
    timezone: organization.timezone,
    settings: effectiveSettings(organization.settings),
    created_at: organization.createdAt.toISOString(),
    updated_at: organization.updatedAt.toISOString(),
    deleted_at: organization.deletedAt?.toISOString() ?? null,
  };
}
