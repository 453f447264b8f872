import { Problem, type FieldError } from '@customer-platform/problem-json';
import type { OAuthClient } from './oauth-client.entity.js';

/** What a client is allowed to be is a matter of all its fields together. */
type ClientFields = Pick<
  OAuthClient,
  'type' | 'grantTypes' | 'redirectUris' | 'postLogoutRedirectUris' | 'requirePkce' | 'roleId'
>;

const LOOPBACK = new Set(['127.0.0.1', '[::1]', 'localhost']);
/** Of a scheme that nobody else's application has by accident (RFC 8252, 7.1); those of browsers have no dot. */
const PRIVATE_USE = /^[a-z][a-z0-9-]*(?:\.[a-z0-9-]+)+:\//;
/** What a URL parser strips or turns round is not what a browser, or the eye, would see. */
const PLAIN = /^[!#-[\]-~]+$/;

const MIXED =
  'A scheme of its own stands beside no https address: register two clients, one for the application and one for the site.';

/**
 * @param local whether this is somebody's own machine, where a confidential client may be, too
 * @throws Problem `validation_failed` naming each field that does not fit the others
 */
export function demandCoherent(client: ClientFields, local: boolean): void {
  const errors = [...wrongUris(client, local), ...wrongGrants(client)];
  if (errors.length > 0) throw Problem.validation(errors);
}

function wrongUris(
  { type, redirectUris, postLogoutRedirectUris }: ClientFields,
  local: boolean,
): FieldError[] {
  const lists = { redirect_uris: redirectUris, post_logout_redirect_uris: postLogoutRedirectUris };
  const isOnTheWeb = [...redirectUris, ...postLogoutRedirectUris].some((uri) => /^https:/i.test(uri));
  return Object.entries(lists).flatMap(([field, uris]) =>
    uris.flatMap((uri, at) => {
      // To the protocol a client is either an application on a machine, or a site: the other's addresses would be no use.
      const isMixed = isOnTheWeb && !/^https?:/i.test(uri);
      const detail = faultOfUri(uri, type, local) ?? (isMixed ? MIXED : undefined);
      if (detail === undefined) return [];
      return [{ pointer: `/${field}/${String(at)}`, code: 'invalid_format' as const, detail }];
    }),
  );
}

/** What is wrong with an address that people are to be sent to; undefined where nothing is. */
export function faultOfUri(uri: string, type: OAuthClient['type'], local = false): string | undefined {
  const url = PLAIN.test(uri) ? URL.parse(uri) : null;
  if (!url) return 'It must be an absolute URI of plain characters.';
  if (uri.includes('#')) return 'It must not have a fragment.';
  if (uri.includes('*')) return 'It must not have a wildcard: it is compared character by character.';
  if (url.username !== '' || url.password !== '') return 'It must not name a user.';
  if (url.protocol === 'https:') return undefined;
  if (url.protocol !== 'http:') {
    return type === 'public' && PRIVATE_USE.test(uri)
      ? undefined
      : 'It must be https, or for a public client of a scheme that is a domain turned round: com.example.app:/callback.';
  }
  if ((type === 'public' || local) && LOOPBACK.has(url.hostname)) return undefined;
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
