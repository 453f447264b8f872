import type { BodyOf, ItemOf } from '@customer-platform/client';

export type OAuthClient = ItemOf<'/v1/identity/oauth-clients'>;
export type NewClient = BodyOf<'post', '/v1/identity/oauth-clients'>;
export type ClientChange = BodyOf<'patch', '/v1/identity/oauth-clients/{id}'>;

/** A client as a form holds it: addresses one a line. */
export interface ClientDraft {
  name: string;
  type: OAuthClient['type'];
  grants: ReadonlySet<OAuthClient['grant_types'][number]>;
  redirects: string;
  logoutRedirects: string;
  pkce: boolean;
  organizations: OAuthClient['organizations'];
  roleId: string;
  grace: string;
}

export const NEW_CLIENT: ClientDraft = {
  name: '',
  type: 'confidential',
  grants: new Set(['authorization_code', 'refresh_token']),
  redirects: '',
  logoutRedirects: '',
  pkce: true,
  organizations: 'own',
  roleId: '',
  grace: '0',
};

export function draftOf(client: OAuthClient): ClientDraft {
  return {
    name: client.name,
    type: client.type,
    grants: new Set(client.grant_types),
    redirects: client.redirect_uris.join('\n'),
    logoutRedirects: client.post_logout_redirect_uris.join('\n'),
    pkce: client.require_pkce,
    organizations: client.organizations,
    roleId: client.role_id ?? '',
    grace: String(client.refresh_grace_seconds),
  };
}

/** What the API takes. A machine's role belongs to the grant by which a program acts for itself. */
export function bodyOf(draft: ClientDraft): Omit<NewClient, 'type'> & { name: string } {
  return {
    name: draft.name.trim(),
    grant_types: [...draft.grants],
    redirect_uris: linesOf(draft.redirects),
    post_logout_redirect_uris: linesOf(draft.logoutRedirects),
    require_pkce: draft.type === 'public' || draft.pkce,
    organizations: draft.organizations,
    role_id: draft.grants.has('client_credentials') && draft.roleId !== '' ? draft.roleId : null,
    refresh_grace_seconds: Number(draft.grace),
  };
}

function linesOf(text: string): string[] {
  return text
    .split(/\s+/)
    .map((line) => line.trim())
    .filter((line) => line !== '');
}
