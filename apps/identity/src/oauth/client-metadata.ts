import { Injectable } from '@nestjs/common';
import { CONSOLE_CLIENT_ID } from '@customer-platform/config';
import { Database, isUuid } from '@customer-platform/database';
import type { AdapterPayload, Client } from 'oidc-provider';

/** Of an organization that is suspended or deleted none is there: nobody signs in with them, nothing is issued to them. */
const FIND = `
SELECT c.id, c.organization_id, c.name, c.type, c.grant_types, c.redirect_uris, c.post_logout_redirect_uris, c.require_pkce,
       c.organizations, c.secret_hash, c.generation, o.parent_id IS NULL AS is_root
  FROM oauth_clients c
  JOIN organizations o ON o.organization_id = c.organization_id AND o.status = 'active' AND o.deleted_at IS NULL
 WHERE c.id = $1 AND c.deleted_at IS NULL`;

interface ClientRow {
  id: string;
  organization_id: string;
  name: string;
  type: 'confidential' | 'public';
  grant_types: string[];
  redirect_uris: string[];
  post_logout_redirect_uris: string[];
  require_pkce: boolean;
  organizations: 'own' | 'tree';
  secret_hash: string | null;
  generation: string;
  is_root: boolean;
}

/** What we keep of a client beside what the protocol knows; see `extraClientMetadata`. */
export const OWN_METADATA = ['organization_id', 'organizations', 'first_party', 'require_pkce', 'generation'];

/** A client as we know it. */
export interface PlatformClient {
  readonly id: string;
  readonly name: string;
  readonly organizationId: string;
  /** Whose people it serves: its organization's, or those of all below as well. */
  readonly organizations: 'own' | 'tree';
  /** Whether it is its people's own organization's, or the platform's: they are not asked for their consent. */
  readonly firstParty: boolean;
  readonly requirePkce: boolean;
  readonly generation: string;
}

/** Reads the platform's part of a client of the provider. */
export function platformClient(client: Client): PlatformClient {
  const text = (name: string): string => {
    const value = client[name];
    if (typeof value !== 'string') throw new Error(`A client of the provider lacks ${name}`);
    return value;
  };
  return {
    id: client.clientId,
    name: client.clientName ?? '',
    organizationId: text('organization_id'),
    organizations: client['organizations'] === 'tree' ? 'tree' : 'own',
    firstParty: client['first_party'] === true,
    requirePkce: client['require_pkce'] !== false,
    generation: text('generation'),
  };
}

/** Whether a client is given a refresh token for what was asked for by these scopes. */
export function isRefreshable(client: Client, { scopes }: { readonly scopes: ReadonlySet<string> }): boolean {
  return client.grantTypeAllowed('refresh_token') && scopes.has('offline_access');
}

/**
 * Whether any program on somebody's machine may be who listens there (RFC 8252, 8.6): at a port that is not registered, or
 * behind a scheme.
 */
export function isAnybodys({ applicationType, redirectUris }: Client, redirectUri: unknown): boolean {
  if (applicationType !== 'native') return false;
  const registered = redirectUris?.find((uri) => uri === redirectUri);
  const url = registered === undefined ? null : URL.parse(registered);
  return url?.protocol !== 'http:' || url.port === '';
}

/** Clients as the provider wants them, read anew for each request: what ends a client ends it there and then. */
@Injectable()
export class ClientMetadata {
  constructor(private readonly database: Database) {}

  async find(id: string): Promise<AdapterPayload | undefined> {
    if (!isUuid(id)) return undefined;
    const [row] = await this.database.acrossOrganizations((tx) => tx.prepared<ClientRow>(FIND, [id]));
    if (!row) return undefined;
    return {
      client_id: row.id,
      client_name: row.name,
      // What the provider holds is the hash, and compares by it.
      ...(row.secret_hash === null ? {} : { client_secret: row.secret_hash }),
      application_type: isNative(row) ? 'native' : 'web',
      token_endpoint_auth_method: row.type === 'public' ? 'none' : 'client_secret_basic',
      grant_types: row.grant_types,
      response_types: row.grant_types.includes('authorization_code') ? ['code'] : [],
      response_modes: ['query'],
      redirect_uris: row.redirect_uris,
      post_logout_redirect_uris: row.post_logout_redirect_uris,
      ...own(row),
    };
  }
}

/**
 * An application on somebody's machine: public, and people are sent to that machine alone. Which port it listens at there
 * it knows when it starts, so any will do (RFC 8252, 7.3).
 */
function isNative({ id, type, redirect_uris: uris, post_logout_redirect_uris: after }: ClientRow): boolean {
  // The Console is a page, also where it is served on one's own machine.
  if (type !== 'public' || uris.length === 0 || id === CONSOLE_CLIENT_ID) return false;
  return ![...uris, ...after].some((uri) => /^https:/i.test(uri));
}

function own(row: ClientRow): Record<string, unknown> {
  return {
    organization_id: row.organization_id,
    organizations: row.organizations,
    first_party: row.organizations === 'own' || row.is_root,
    require_pkce: row.type === 'public' || row.require_pkce,
    generation: row.generation,
  };
}
