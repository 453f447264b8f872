import type { IncomingMessage, ServerResponse } from 'node:http';
import { Controller, Req, Res, UseFilters } from '@nestjs/common';
import { AnyBody, CorrelationId, Endpoint, Origin, type RequestOrigin } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import { PasswordResets } from '../password-resets/password-resets.js';
import { PASSWORD_LENGTH } from '../vocabulary/is-password.js';
import { BrowserBinding, isOwnForm, keepInBrowser, keptInBrowser } from '../pages/browser-binding.js';
import { KnownBrowsers } from './known-browsers.js';
import { PageErrorsFilter } from './page-errors.filter.js';
import { languageOf, messagesOf, type Language } from '../pages/languages.js';
import { pageHeaders, sendPage, type Page } from '../pages/page.js';
import {
  newPasswordPage,
  resetDeadPage,
  resetDonePage,
  resetRequestPage,
  resetSentPage,
} from '../pages/plain-pages.js';
import { SignInForm } from './sign-in-form.js';

const REQUEST = '/oauth/password-reset/request';
const CONFIRM = '/oauth/password-reset';
/** The cookie in which a token lies for as long as it holds (identity.md §5). */
const TOKEN = 'password-reset';
const LIFE_S = 3_600;
const IS_TOKEN = /^[\w-]{1,200}$/;
const FORM_BYTES = 16 * 1024;
const WRONG = 422;
/** What of a link does not hold any more. */
const DEAD = new Set(['missing_credentials', 'invalid_token', 'token_expired']);

/** The pages on which somebody gets a new password who has forgotten theirs (identity.md §5). */
@Controller('oauth/password-reset')
@UseFilters(PageErrorsFilter)
export class PasswordResetPagesController {
  constructor(
    private readonly resets: PasswordResets,
    private readonly browsers: KnownBrowsers,
  ) {}

  @Endpoint({
    method: 'GET',
    path: 'request',
    authorization: 'protocol',
    summary: 'The page that asks whose password to reset',
  })
  askFor(@Req() request: IncomingMessage, @Res() response: ServerResponse): void {
    sendPage(response, resetRequestPage(frameOf(request, response, REQUEST)));
  }

  @Endpoint({
    method: 'POST',
    path: 'request',
    authorization: 'protocol',
    summary: 'Its form: a mail goes out if there is an account',
    body: 'form',
    bodyLimit: FORM_BYTES,
    problems: ['permission_denied'],
  })
  async request(
    @Req() request: IncomingMessage,
    @Res() response: ServerResponse,
    @Origin() origin: RequestOrigin,
    @CorrelationId() correlationId: string,
    @AnyBody() body: unknown,
  ): Promise<void> {
    const form = ownForm(request, REQUEST, body);
    const language = languageIn(request);
    const { email } = form;
    if (email === undefined) {
      const error = messagesOf(language).signIn.badEmail;
      sendPage(response, resetRequestPage(frameOf(request, response, REQUEST), { error, status: WRONG }));
      return;
    }
    await this.resets.request({ ...origin, correlationId, email, locale: language });
    sendPage(response, resetSentPage(language));
  }

  @Endpoint({
    method: 'GET',
    authorization: 'protocol',
    summary: 'The page that the link of the mail opens',
    description:
      'The token moves from the address into a cookie, and the browser to the address without it. That changes nothing: ' +
      'programs that look at links before people do use none up.',
  })
  open(@Req() request: IncomingMessage, @Res() response: ServerResponse): void {
    const given = new URL(request.url ?? '', 'http://localhost').searchParams.get('token');
    const resetToken = given ?? keptInBrowser(request, TOKEN) ?? '';
    if (!IS_TOKEN.test(resetToken)) {
      sendPage(response, resetDeadPage(languageIn(request)));
      return;
    }
    if (given === null) {
      sendPage(response, newPasswordPage(frameOf(request, response, CONFIRM), { resetToken }));
      return;
    }
    // Addresses are kept in histories, and in the logs of whoever is in between.
    keepInBrowser(response, TOKEN, given, LIFE_S);
    response.writeHead(303, { ...pageHeaders(), Location: CONFIRM }).end();
  }

  @Endpoint({
    method: 'POST',
    authorization: 'protocol',
    summary: 'Its form: the new password',
    body: 'form',
    bodyLimit: FORM_BYTES,
    problems: ['permission_denied', 'rate_limited'],
  })
  async confirm(
    @Req() request: IncomingMessage,
    @Res() response: ServerResponse,
    @Origin() origin: RequestOrigin,
    @CorrelationId() correlationId: string,
    @AnyBody() body: unknown,
  ): Promise<void> {
    const form = ownForm(request, CONFIRM, body);
    const language = languageIn(request);
    const resetToken = form.get('reset_token');
    const again = (error: string): Page =>
      newPasswordPage(frameOf(request, response, CONFIRM), { resetToken, error, status: WRONG });
    const password = form.get('password');
    const fault = faultOf(password, form.get('repeat'), language);
    if (fault !== undefined) {
      sendPage(response, again(fault));
      return;
    }
    try {
      const { email } = await this.resets.confirm(
        { token: resetToken, password },
        { ...origin, correlationId },
      );
      this.browsers.remember(request, response, email);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      if (DEAD.has(error.code)) sendPage(response, resetDeadPage(language));
      else if (error.status === 400) sendPage(response, again(messagesOf(language).reset.common));
      else throw error;
      return;
    }
    keepInBrowser(response, TOKEN, '', 0);
    sendPage(response, resetDonePage(language));
  }
}

function faultOf(password: string, repeat: string, language: Language): string | undefined {
  const { differs, length } = messagesOf(language).reset;
  const characters = [...password].length;
  if (characters < PASSWORD_LENGTH.least || characters > PASSWORD_LENGTH.most) return length;
  return password === repeat ? undefined : differs;
}

function languageIn({ headers }: IncomingMessage): Language {
  return languageOf(undefined, headers['accept-language']);
}

function frameOf(request: IncomingMessage, response: ServerResponse, action: string) {
  const browser = BrowserBinding.of(request) ?? BrowserBinding.fresh(response);
  return { language: languageIn(request), action, token: browser.tokenFor(action) };
}

/** @throws Problem `permission_denied` for a form that is not of our own page, in this browser */
function ownForm(request: IncomingMessage, action: string, body: unknown): SignInForm {
  const form = new SignInForm(body);
  if (isOwnForm(request) && BrowserBinding.of(request)?.knows(action, form.get('token'))) return form;
  throw new Problem('permission_denied');
}
