import type { ParsedUrlQuery } from 'node:querystring';
import { isStorableText } from '@customer-platform/http';
import { errors, type KoaContextWithOIDC } from 'oidc-provider';
import { platformClient } from './client-metadata.js';

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
