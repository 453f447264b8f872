import { errors, type KoaContextWithOIDC } from 'oidc-provider';

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
