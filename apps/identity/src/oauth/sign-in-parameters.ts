import type { ParsedUrlQuery } from 'node:querystring';
import { isStorableText } from '@customer-platform/http';
import { errors, type KoaContextWithOIDC } from 'oidc-provider';
import { API_SCOPES, mistypedIn } from '../vocabulary/api-scopes.js';
import { platformClient } from './client-metadata.js';

/** The prompt by which a client lets people sign in as somebody else (OpenID Connect Core 3.1.2.1). */
export const SELECT_ACCOUNT = 'select_account';

const OFFLINE = 'offline_access';

/** What a sign-in keeps of its request is bounded; who asks has not proven to be anybody. */
const LENGTHS: Readonly<Record<string, number>> = {
  redirect_uri: 2_048,
  state: 2_048,
  id_token_hint: 4_096,
};
const OTHER_LENGTH = 512;

/** Refuses authorization requests with parameters that nobody needs so long. @throws InvalidRequest */
export function demandShort({ oidc }: KoaContextWithOIDC): void {
  for (const [name, value] of Object.entries(oidc.params ?? {})) {
    const most = LENGTHS[name] ?? OTHER_LENGTH;
    if (typeof value === 'string' && value.length > most)
      throw new errors.InvalidRequest(`${name} must not be longer than ${String(most)} characters`);
  }
}

/** @throws InvalidScope for one that is none of the API's, and is meant for one: it would give more than was asked for */
export function demandApiScopes({ query }: KoaContextWithOIDC): void {
  // The provider has taken those that it does not know out of its parameters.
  const { scope } = query;
  const mistyped = mistypedIn(typeof scope === 'string' ? scope.split(' ') : []);
  if (mistyped === undefined) return;
  throw new errors.InvalidScope(`the API has no such scope, but ${API_SCOPES.join(', ')}`, mistyped);
}

/** The name of a parameter with a value that no database takes, which the provider would keep: nobody has one to send. */
export function unstorableIn(query: ParsedUrlQuery): string | undefined {
  const [name] =
    Object.entries(query).find(([, values]) => ![values ?? ''].flat().every(isStorableText)) ?? [];
  return name;
}

/**
 * Without `prompt=consent` the provider drops `offline_access`, and beside `prompt=none` none other is taken. Whom a
 * client asks nothing needs no prompt to allow it (OpenID Connect Core §11), so a page that signs in silently, as after
 * each reload, is given a refresh token as before.
 */
export function keepSilentOffline({ oidc, query }: KoaContextWithOIDC): void {
  const { client, params, prompts } = oidc;
  if (!client || !params || !prompts.has('none') || !platformClient(client).firstParty) return;
  const { scope: asked } = query;
  if (typeof asked !== 'string' || !asked.split(' ').includes(OFFLINE)) return;
  if (client.grantTypeAllowed('refresh_token')) params['scope'] = asked;
}
