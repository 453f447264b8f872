import type { ResourceChange } from '@customer-platform/database';
import type { SsoConnection } from './sso-connection.entity.js';

/** The fields of a change, by property. */
const FIELDS: Readonly<Record<string, string>> = {
  name: 'name',
  protocol: 'protocol',
  issuer: 'issuer',
  clientId: 'client_id',
  clientSecret: 'client_secret',
  domains: 'domains',
  enforced: 'enforced',
  jit: 'jit',
  jitRoleIds: 'jit_role_ids',
  status: 'status',
  deletedAt: 'deleted_at',
};

/** `identity.sso_connection.*` (identity.md §9). */
export function ssoConnectionEvent({ verb, row, changed }: ResourceChange<SsoConnection>) {
  return {
    type: `identity.sso_connection.${verb}.v1`,
    key: row.id,
    subject: `sso-connections/${row.id}`,
    data: {
      organization_id: row.organizationId,
      id: row.id,
      changed: changed.flatMap((property) => FIELDS[property] ?? []),
    },
  };
}
