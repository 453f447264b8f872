import type { BodyOf, ItemOf } from '@customer-platform/client';

export type Connection = ItemOf<'/v1/identity/sso-connections'>;
export type NewConnection = BodyOf<'post', '/v1/identity/sso-connections'>;
export type ConnectionChange = BodyOf<'patch', '/v1/identity/sso-connections/{id}'>;

/** A connection as a form holds it. The secret is written, never read. */
export interface ConnectionDraft {
  name: string;
  issuer: string;
  clientId: string;
  clientSecret: string;
  domains: string;
  enforced: boolean;
  jit: boolean;
  jitRoleIds: readonly string[];
}

export const NEW_CONNECTION: ConnectionDraft = {
  name: '',
  issuer: '',
  clientId: '',
  clientSecret: '',
  domains: '',
  enforced: false,
  jit: false,
  jitRoleIds: [],
};

export function draftOf(connection: Connection): ConnectionDraft {
  return {
    name: connection.name,
    issuer: connection.issuer,
    clientId: connection.client_id,
    clientSecret: '',
    domains: connection.domains.join('\n'),
    enforced: connection.enforced,
    jit: connection.jit,
    jitRoleIds: connection.jit_role_ids,
  };
}

/** What the API takes; without a secret, the one that is there stays. */
export function bodyOf(draft: ConnectionDraft) {
  return {
    name: draft.name.trim(),
    issuer: draft.issuer.trim(),
    client_id: draft.clientId.trim(),
    ...(draft.clientSecret !== '' && { client_secret: draft.clientSecret }),
    domains: draft.domains
      .split(/[\s,]+/)
      .map((domain) => domain.trim().toLowerCase())
      .filter((domain) => domain !== ''),
    enforced: draft.enforced,
    jit: draft.jit,
    jit_role_ids: [...draft.jitRoleIds],
  };
}
