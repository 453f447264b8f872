import type { OAuthClientDto, OAuthClientWithSecretDto } from './oauth-client.dto.js';
import type { OAuthClient } from './oauth-client.entity.js';
import type { ShownClient } from './oauth-clients.service.js';

/** A client without its secret. */
export function toOAuthClientDto(client: OAuthClient): OAuthClientDto {
  return {
    id: client.id,
    name: client.name,
    type: client.type,
    grant_types: client.grantTypes,
    redirect_uris: client.redirectUris,
    post_logout_redirect_uris: client.postLogoutRedirectUris,
    require_pkce: client.requirePkce,
    organizations: client.organizations,
    role_id: client.roleId,
    refresh_grace_seconds: client.refreshGraceSeconds,
    created_at: client.createdAt.toISOString(),
    updated_at: client.updatedAt.toISOString(),
    deleted_at: client.deletedAt?.toISOString() ?? null,
  };
}

/** A client with the secret that it has just been given. */
export function toShownClientDto({ client, secret }: ShownClient): OAuthClientWithSecretDto {
  return { ...toOAuthClientDto(client), ...(secret === undefined ? {} : { client_secret: secret }) };
}
