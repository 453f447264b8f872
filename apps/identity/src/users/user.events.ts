import type { ResourceChange } from '@customer-platform/database';
import type { User } from './user.entity.js';

const FIELDS: Readonly<Record<string, string>> = {
  email: 'email',
  name: 'name',
  locale: 'locale',
  status: 'status',
  deletedAt: 'deleted_at',
};

/** `identity.user.*` (identity.md §9): never the address or the name. */
export function userEvent({ verb, row, changed }: ResourceChange<User>) {
  const turned = row.status === 'suspended' ? 'suspended' : 'reactivated';
  return {
    type: `identity.user.${changed.includes('status') && verb === 'updated' ? turned : verb}.v1`,
    key: row.id,
    subject: `users/${row.id}`,
    data: {
      organization_id: row.organizationId,
      id: row.id,
      changed: changed.flatMap((property) => FIELDS[property] ?? []),
    },
  };
}
