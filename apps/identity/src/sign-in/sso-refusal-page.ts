import type { SsoRefusalReason } from '../vocabulary/sso-refusal.js';
import type { Language } from '../pages/languages.js';
import type { Page } from '../pages/page.js';
import { errorPage, type Failure } from '../pages/plain-pages.js';

const EXPIRED = { failure: 'expired', status: 400 } as const;
const REFUSED = { failure: 'ssoRefused', status: 403 } as const;
const WRONG_ADDRESS = { failure: 'ssoWrongAddress', status: 403 } as const;
const NO_ACCOUNT = { failure: 'ssoNoAccount', status: 403 } as const;
/** Nobody learns by it which of them a stranger's account is in. */
const WHAT_TO_SAY: Readonly<Record<SsoRefusalReason, { failure: Failure; status: number }>> = {
  unknown_request: EXPIRED,
  other_browser: EXPIRED,
  other_connection: REFUSED,
  too_late: EXPIRED,
  connection_off: EXPIRED,
  provider_refused: REFUSED,
  provider_unavailable: { failure: 'ssoUnavailable', status: 503 },
  answer_invalid: REFUSED,
  not_fresh: { failure: 'ssoNotFresh', status: 403 },
  no_verified_email: WRONG_ADDRESS,
  foreign_domain: WRONG_ADDRESS,
  no_account: NO_ACCOUNT,
  account_elsewhere: NO_ACCOUNT,
  account_disabled: NO_ACCOUNT,
};

/** Why a sign-in by a provider came to nothing, and the way back to where it was begun. */
export function ssoRefusalPage(
  language: Language,
  { reason, uid }: { readonly reason: SsoRefusalReason; readonly uid: string | undefined },
  reference: string | undefined,
): Page {
  const { failure, status } = WHAT_TO_SAY[reason];
  return errorPage(language, failure, {
    status,
    ...(reference === undefined ? {} : { reference }),
    again: uid === undefined ? undefined : `/oauth/interactions/${encodeURIComponent(uid)}`,
  });
}
