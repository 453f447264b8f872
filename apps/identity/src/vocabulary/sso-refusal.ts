/**
 * Why somebody who came back from a provider is not let in:
 * - `unknown_request`: the state is none of ours, or was used before.
 * - `other_browser`: it was begun in another browser.
 * - `other_connection`: it was sent to another provider than the one whose address the answer came to (mix-up).
 * - `too_late`, `connection_off`: it was ours; that is over.
 * - `provider_refused`: the provider says so itself (`access_denied`, `login_required`).
 * - `provider_unavailable`: it does not answer, or its documents do not serve.
 * - `answer_invalid`: what it answers does not hold: signature, issuer, audience, nonce, times.
 * - `not_fresh`: they authenticated there too long ago for the client, or it does not say when.
 * - `no_verified_email`, `foreign_domain`: it does not vouch for an address of the connection's domains.
 * - `no_account`: nobody has the address here, and the connection makes no users.
 * - `account_elsewhere`: somebody has, at home in another organization.
 * - `account_disabled`: the user is suspended or deleted.
 */
export type SsoRefusalReason =
  | 'unknown_request'
  | 'other_browser'
  | 'other_connection'
  | 'too_late'
  | 'connection_off'
  | 'provider_refused'
  | 'provider_unavailable'
  | 'answer_invalid'
  | 'not_fresh'
  | 'no_verified_email'
  | 'foreign_domain'
  | 'no_account'
  | 'account_elsewhere'
  | 'account_disabled';

/** A sign-in by a provider that has come to nothing. */
export class SsoRefusal extends Error {
  constructor(
    readonly reason: SsoRefusalReason,
    /** The interaction it belongs to, told only to the browser that it was begun in. */
    readonly uid?: string,
    options?: ErrorOptions,
  ) {
    super(`a sign-in by a provider was refused: ${reason}`, options);
    this.name = 'SsoRefusal';
  }
}
