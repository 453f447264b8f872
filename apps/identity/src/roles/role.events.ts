import type { ResourceChange } from '@customer-platform/database';
import type { Role } from './role.entity.js';

/** The fields of a change, by property. */
const FIELDS: Readonly<Record<string, string>> = {
  name: 'name',
  description: 'description',
  kind: 'kind',
  permissions: 'permissions',
  deletedAt: 'deleted_at',
};

/** `identity.role.*` (identity.md §9). */
export function roleEvent({ verb, row, changed }: ResourceChange<Role>) {
  return {
    type: `identity.role.${verb}.v1`,
    key: row.id,
    subject: `roles/${row.id}`,
    data: {
      organization_id: row.organizationId,
      id: row.id,
      changed: changed.flatMap((property) => FIELDS[property] ?? []),
    },
  };
}
