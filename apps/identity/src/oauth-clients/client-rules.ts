import { Problem, type FieldError } from '@customer-platform/problem-json';
import type { OAuthClient } from './oauth-client.entity.js';

/** What a client is allowed to be is a matter of all its fields together. */
type ClientFields = Pick<
  OAuthClient,
  'type' | 'grantTypes' | 'redirectUris' | 'postLogoutRedirectUris' | 'requirePkce' | 'roleId'
>;

const LOOPBACK = new Set(['127.0.0.1', '[::1]', 'localhost']);
/** What a URL parser strips or turns round is not what a browser, or the eye, would see. */
const PLAIN = /^[!#-[\]-~]+$/;

/** @throws Problem `validation_failed` naming each field that does not fit the others */
export function demandCoherent(client: ClientFields): void {
  const errors = [...wrongUris(client), ...wrongGrants(client)];
  if (errors.length > 0) throw Problem.validation(errors);
}

function wrongUris({ type, redirectUris, postLogoutRedirectUris }: ClientFields): FieldError[] {
  const lists = { redirect_uris: redirectUris, post_logout_redirect_uris: postLogoutRedirectUris };
  return Object.entries(lists).flatMap(([field, uris]) =>
    uris.flatMap((uri, at) => {
      const detail = faultOfUri(uri, type);
      if (detail === undefined) return [];
      return [{ pointer: `/${field}/${String(at)}`, code: 'invalid_format' as const, detail }];
    }),
  );
}

/** What is wrong with an address that people are to be sent to; undefined where nothing is. */
export function faultOfUri(uri: string, type: OAuthClient['type']): string | undefined {
  const url = PLAIN.test(uri) ? URL.parse(uri) : null;
  if (!url) return 'It must be an absolute URI of plain characters.';
  if (uri.includes('#')) return 'It must not have a fragment.';
  if (uri.includes('*')) return 'It must not have a wildcard: it is compared character by character.';
  if (url.username !== '' || url.password !== '') return 'It must not name a user.';
  if (url.protocol === 'https:') return undefined;
  if (url.protocol !== 'http:') return 'It must be https.';
  if (type === 'public' && LOOPBACK.has(url.hostname)) return undefined;
  return 'Plain http is for public clients on this very machine: 127.0.0.1, [::1] or localhost.';
}

function wrongGrants(client: ClientFields): FieldError[] {
  const { type, grantTypes, redirectUris, requirePkce, roleId } = client;
  const byCode = grantTypes.includes('authorization_code');
  const byItself = grantTypes.includes('client_credentials');
  const errors: FieldError[] = [];
  const add = (pointer: string, code: FieldError['code'], detail: string) => {
    errors.push({ pointer, code, detail });
  };
  if (byItself && type === 'public')
    add('/grant_types', 'not_allowed', 'A public client cannot prove who it is: no `client_credentials`.');
  if (grantTypes.includes('refresh_token') && !byCode)
    add('/grant_types', 'not_allowed', '`refresh_token` goes with `authorization_code`.');
  if (byCode && redirectUris.length === 0)
    add('/redirect_uris', 'required', '`authorization_code` needs at least one.');
  if (type === 'public' && !requirePkce)
    add('/require_pkce', 'not_allowed', 'A public client always uses PKCE.');
  if (byItself && roleId === null)
    add('/role_id', 'required', '`client_credentials` needs the role that the client then has.');
  if (!byItself && roleId !== null)
    add('/role_id', 'not_allowed', 'A role is for `client_credentials` alone; people bring their own.');
  return errors;
}
