import type { IncomingMessage, ServerResponse } from 'node:http';
import { PROBLEM_CONTENT_TYPE, type Problem } from '@customer-platform/problem-json';
import { pathOf } from '../context/request-state.js';
import { log } from '../observe/log.js';
import { RequestAborted } from '../reading/read-body.js';
import { toProblem } from './to-problem.js';

/** Sends a problem. An answer that has begun cannot be changed: its connection is cut, so that it is not taken as whole. */
export function answerProblem(
  request: IncomingMessage,
  response: ServerResponse,
  problem: Problem,
  correlationId: string,
): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const text = JSON.stringify(problem.toBody({ instance: pathOf(request), correlationId }));
  for (const name of response.getHeaderNames()) {
    if (name.startsWith('content-') || name === 'etag' || name === 'location') response.removeHeader(name);
  }
  response.statusCode = problem.status;
  response.setHeader('X-Correlation-Id', correlationId);
  response.setHeader('Cache-Control', 'no-store');
  for (const [name, value] of Object.entries(problem.headers)) response.setHeader(name, value);
  response.setHeader('Content-Type', PROBLEM_CONTENT_TYPE);
  response.setHeader('Content-Length', Buffer.byteLength(text));
  response.end(request.method === 'HEAD' ? undefined : text);
}

/** Answers any error as a problem, and logs what the caller is not told. */
export function answerError(
  request: IncomingMessage,
  response: ServerResponse,
  error: unknown,
  correlationId: string,
): void {
  if (error instanceof RequestAborted) {
    log.debug('the caller closed the connection before the answer');
    response.destroy();
    return;
  }
  const problem = toProblem(error);
  if (problem.status >= 500) {
    const level = problem.code === 'internal_error' ? 'error' : 'warn';
    log[level]({ err: problem.cause ?? problem, code: problem.code }, 'a request failed');
  }
  answerProblem(request, response, problem, correlationId);
}
