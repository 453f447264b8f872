import type { IncomingMessage, ServerResponse } from 'node:http';
import { Controller, Req, Res, UseFilters } from '@nestjs/common';
import { CorrelationId, Endpoint, Origin, PathText, type RequestOrigin } from '@customer-platform/http';
import { BrowserBinding } from '../pages/browser-binding.js';
import { PageErrorsFilter } from './page-errors.filter.js';
import { languageOf } from '../pages/languages.js';
import { sendPage } from '../pages/page.js';
import { leavingPage } from '../pages/sign-in-pages.js';
import { counted } from '../vocabulary/sign-in-metrics.js';
import { SignInProgress } from './sign-in-progress.js';
import { SsoRefusal } from '../vocabulary/sso-refusal.js';
import { SsoSignIn } from '../sso-connections/sso-sign-in.js';

/** Where providers send people back to (identity.md §6). */
@Controller('oauth/sso')
@UseFilters(PageErrorsFilter)
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
    const callback = { connectionId, parameters: parametersOf(request) };
    const browser = (uid: string): Buffer | undefined => BrowserBinding.of(request, uid)?.hash;
    const { asked, signedIn } = await counted(
      'sso',
      this.sso.finish(callback, browser, { ...origin, correlationId }),
      (error) => error instanceof SsoRefusal,
    );
    // Whoever has authenticated is known by a secret that nobody knew before.
    await this.progress.begin(asked, BrowserBinding.fresh(response, asked.uid), signedIn);
    const language = languageOf(undefined, request.headers['accept-language']);
    sendPage(response, leavingPage({ language }, `/oauth/interactions/${encodeURIComponent(asked.uid)}`));
  }

  @Endpoint({
    method: 'GET',
    path: 'callback',
    authorization: 'protocol',
    summary: 'The way back that connections had in common',
    description: 'HTML: that the sign-in is to be begun anew. Each connection has an address of its own.',
  })
  comeBackToAll(): never {
    throw new SsoRefusal('unknown_request');
  }
}

function parametersOf({ url = '' }: IncomingMessage): URLSearchParams {
  const start = url.indexOf('?');
  return new URLSearchParams(start < 0 ? '' : url.slice(start));
}
