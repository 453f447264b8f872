import type { ResourceChange } from '@customer-platform/database';
import type { Organization } from './organization.entity.js';

const FIELDS: Readonly<Record<string, string>> = {
  name: 'name',
  slug: 'slug',
  status: 'status',
  locale: 'locale',
  timezone: 'timezone',
  settings: 'settings',
  deletedAt: 'deleted_at',
};

/** `identity.organization.*` (identity.md §9). The event is the changed organization's own, whoever changed it. */
export function organizationEvent({ verb, row, changed }: ResourceChange<Organization>) {
  const turned = row.status === 'suspended' ? 'suspended' : 'reactivated';
  return {
    type: `identity.organization.${changed.includes('status') ? turned : verb}.v1`,
    organizationId: row.id,
    key: row.id,
    subject: `organizations/${row.id}`,
    data: {
      organization_id: row.id,
      id: row.id,
      slug: row.slug,
      changed: changed.flatMap((property) => FIELDS[property] ?? []),
    },
  };
}
