import type { ResourceChange } from '@customer-platform/database';
import type { OAuthClient } from './oauth-client.entity.js';

/** The fields of a change, by property. */
export const FIELDS: Readonly<Record<string, string>> = {
  name: 'name',
  type: 'type',
  grantTypes: 'grant_types',
  redirectUris: 'redirect_uris',
  postLogoutRedirectUris: 'post_logout_redirect_uris',
  requirePkce: 'require_pkce',
  organizations: 'organizations',
  roleId: 'role_id',
  refreshGraceSeconds: 'refresh_grace_seconds',
  secretHash: 'client_secret',
  deletedAt: 'deleted_at',
};

/** `identity.oauth_client.*` (identity.md §9). */
export function oauthClientEvent({ verb, row, changed }: ResourceChange<OAuthClient>) {
  return {
    type: `identity.oauth_client.${verb}.v1`,
    key: row.id,
    subject: `oauth-clients/${row.id}`,
    data: {
      organization_id: row.organizationId,
      id: row.id,
      changed: changed.flatMap((property) => FIELDS[property] ?? []),
    },
  };
}
