import { HttpException } from '@nestjs/common';
import { Problem, type ProblemCode } from '@customer-platform/problem-json';

/** What a framework means by a status it answers by itself; its own text is not passed on. */
const CODE_OF_STATUS: Readonly<Record<number, ProblemCode>> = {
  400: 'malformed_request',
  401: 'missing_credentials',
  403: 'permission_denied',
  404: 'route_not_found',
  405: 'method_not_allowed',
  408: 'request_timeout',
  412: 'etag_mismatch',
  413: 'body_too_large',
  414: 'uri_too_long',
  415: 'unsupported_media_type',
  429: 'rate_limited',
  431: 'headers_too_large',
  503: 'dependency_unavailable',
  504: 'upstream_timeout',
};

/**
 * Any error as a problem: a `Problem` as it is, what Nest and Express throw by their status, all else
 * `internal_error`. The error itself is kept as cause, for the log only.
 */
export function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  const status = statusOf(error);
  if (status === undefined) return new Problem('internal_error', { cause: error });
  const code = CODE_OF_STATUS[status] ?? (status < 500 ? 'malformed_request' : 'internal_error');
  return new Problem(code, { cause: error });
}

/** Express and its parts mark errors of the caller with a status; others carry one too, so only 4xx is believed. */
function statusOf(error: unknown): number | undefined {
  if (error instanceof HttpException) return error.getStatus();
  if (!(error instanceof Error) || !('status' in error)) return undefined;
  const { status } = error;
  return typeof status === 'number' && status >= 400 && status < 500 ? status : undefined;
}
