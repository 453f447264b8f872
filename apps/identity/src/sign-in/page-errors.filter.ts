import type { IncomingMessage, ServerResponse } from 'node:http';
import { Catch, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import { log, RequestAborted, toProblem } from '@customer-platform/http';
import { errors } from 'oidc-provider';
import { Problem, type ProblemCode } from '@customer-platform/problem-json';
import { InteractionNotFound } from '../oauth/interactions.js';
import { languageOf } from '../pages/languages.js';
import { sendPage } from '../pages/page.js';
import { errorPage, type Failure } from '../pages/plain-pages.js';
import { SsoRefusal } from '../vocabulary/sso-refusal.js';
import { ssoRefusals } from '../vocabulary/sign-in-metrics.js';
import { ssoRefusalPage } from './sso-refusal-page.js';

const FAILURES: Partial<Record<ProblemCode, Failure>> = {
  not_found: 'expired',
  invalid_token: 'expired',
  token_expired: 'expired',
  permission_denied: 'forged',
  dependency_unavailable: 'unavailable',
  shutting_down: 'unavailable',
  internal_error: 'internal',
};

/** Tells people what went wrong by a page, in their language; programs that come here see the status. */
@Catch()
export class PageErrorsFilter implements ExceptionFilter {
  catch(error: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const request = http.getRequest<IncomingMessage>();
    const response = http.getResponse<ServerResponse>();
    if (error instanceof RequestAborted || response.headersSent) {
      response.destroy();
      return;
    }
    const language = languageOf(undefined, request.headers['accept-language']);
    const header = response.getHeader('X-Correlation-Id');
    const reference = typeof header === 'string' ? header : undefined;
    if (error instanceof SsoRefusal) {
      // The page shows the reference alone: why is for whoever finds it in the log.
      log.info({ reason: error.reason }, 'A sign-in by an SSO connection came to nothing');
      ssoRefusals.inc({ reason: error.reason });
      const uid = error.uid ?? underWayIn(request);
      sendPage(response, ssoRefusalPage(language, { reason: error.reason, uid }, reference));
      return;
    }
    const problem = problemOf(error);
    if (problem.status >= 500)
      log.error({ err: problem.cause ?? problem, code: problem.code }, 'a page failed');
    const shown = errorPage(language, failureOf(problem), {
      status: problem.status,
      headers: problem.headers,
      again: error instanceof InteractionNotFound ? error.again : wayBack(request),
      ...(reference === undefined ? {} : { reference }),
    });
    sendPage(response, shown);
  }
}

/** The page that was asked for, or whose form it was. */
function wayBack(request: IncomingMessage): string | undefined {
  const [path = ''] = (request.url ?? '').split('?');
  if (path.startsWith('/oauth/interactions/')) return path;
  if (path.startsWith('/oauth/password-reset')) return '/oauth/password-reset/request';
  const uid = underWayIn(request);
  return uid === undefined ? undefined : `/oauth/interactions/${uid}`;
}

/** The newest sign-in of a browser, for which it has a cookie: the page itself looks at that. */
function underWayIn({ headers }: IncomingMessage): string | undefined {
  return [...(headers.cookie ?? '').matchAll(/(?:^|; *)(?:__Host-)?interaction-([\w-]{1,64})=/g)].at(-1)?.[1];
}

function problemOf(error: unknown): Problem {
  if (error instanceof InteractionNotFound) return new Problem('not_found');
  // What the OAuth provider says of a database that is away, in the protocol's words.
  const isWrapped = error instanceof errors.TemporarilyUnavailable && error.cause instanceof Problem;
  return toProblem(isWrapped ? error.cause : error);
}

function failureOf(problem: Problem): Failure {
  if (problem.code === 'rate_limited') return problem.members['scope'] === 'platform' ? 'busy' : 'many';
  return FAILURES[problem.code] ?? (problem.status >= 500 ? 'unavailable' : 'unreadable');
}
