import type { IncomingMessage, ServerResponse } from 'node:http';
import { Controller, Req, Res } from '@nestjs/common';
import { CorrelationId, Endpoint, Origin, PathText, type RequestOrigin } from '@customer-platform/http';
import { BrowserBinding } from '../sign-in/browser-binding.js';
import { languageOf } from '../sign-in/pages/languages.js';
import { sendPage } from '../sign-in/pages/page.js';
import { errorPage, type Failure } from '../sign-in/pages/plain-pages.js';
import { leavingPage } from '../sign-in/pages/sign-in-pages.js';
import { SignInProgress } from '../sign-in/sign-in-progress.js';
import { SsoRefusal, type SsoRefusalReason } from '../sso-connections/sso-refusal.js';
import { SsoSignIn, type SsoCallback } from '../sso-connections/sso-sign-in.js';

const EXPIRED = { failure: 'expired', status: 400 } as const;
const REFUSED = { failure: 'ssoRefused', status: 403 } as const;
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
  no_verified_email: REFUSED,
  foreign_domain: REFUSED,
  no_account: NO_ACCOUNT,
  account_elsewhere: NO_ACCOUNT,
  account_disabled: NO_ACCOUNT,
};

/** Where providers send people back to (identity.md §6). */
@Controller('oauth/sso')
export class SsoCallbackController {
  constructor(
    private readonly sso: SsoSignIn,
    private readonly progress: SignInProgress,
  ) {}

  @Endpoint({
    method: 'GET',
    path: 'callback/:id',
    authorization: 'protocol',
    summary: 'The way back from the provider of an SSO connection',
    description:
      'HTML: the page that leads on to the sign-in that is under way, in the browser it was begun in.',
  })
  async comeBack(
    @Req() request: IncomingMessage,
    @Res() response: ServerResponse,
    @PathText('id') connectionId: string,
    @Origin() origin: RequestOrigin,
    @CorrelationId() correlationId: string,
  ): Promise<void> {
    const language = languageOf(undefined, request.headers['accept-language']);
    const callback = { connectionId, parameters: parametersOf(request) };
    const browser = BrowserBinding.of(request)?.hash;
    try {
      const { asked, signedIn } = await this.sso.finish(callback, browser, { ...origin, correlationId });
      // Whoever has authenticated is known by a secret that nobody knew before.
      await this.progress.begin(asked, BrowserBinding.fresh(response), signedIn);
      sendPage(response, leavingPage({ language }, pathOf(asked.uid)));
    } catch (error) {
      if (!(error instanceof SsoRefusal)) throw error;
      const { failure, status } = WHAT_TO_SAY[error.reason];
      sendPage(response, errorPage(language, failure, { status, reference: correlationId }));
    }
  }

  @Endpoint({
    method: 'GET',
    path: 'callback',
    authorization: 'protocol',
    summary: 'The way back that connections had in common',
    description: 'HTML: that the sign-in is to be begun anew. Each connection has an address of its own.',
  })
  comeBackToAll(
    @Req() request: IncomingMessage,
    @Res() response: ServerResponse,
    @CorrelationId() correlationId: string,
  ): void {
    const language = languageOf(undefined, request.headers['accept-language']);
    const { failure, status } = EXPIRED;
    sendPage(response, errorPage(language, failure, { status, reference: correlationId }));
  }
}

function parametersOf({ url = '' }: IncomingMessage): SsoCallback['parameters'] {
  const start = url.indexOf('?');
  return new URLSearchParams(start < 0 ? '' : url.slice(start));
}

function pathOf(uid: string): string {
  return `/oauth/interactions/${encodeURIComponent(uid)}`;
}
