import type { IncomingMessage, ServerResponse } from 'node:http';
import { Problem } from '@customer-platform/problem-json';
import { pathOf, stateOf } from '../context/request-state.js';
import { answerProblem } from '../problems/answer-problem.js';
import type { RouteTable } from './route-table.js';

/** Answers a request that no route matched: OPTIONS with the methods of its path, else 405 or 404. */
export function answerUnmatched(table: RouteTable, request: IncomingMessage, response: ServerResponse): void {
  const { correlationId, listener } = stateOf(request);
  const methods = table.methodsOf(pathOf(request), listener);
  if (methods.length === 0) {
    answerProblem(request, response, new Problem('route_not_found'), correlationId);
    return;
  }
  const allow = [...methods, 'OPTIONS'].join(', ');
  if (request.method === 'OPTIONS') {
    const isPreflight = request.headers['access-control-request-method'] !== undefined;
    const granted = isPreflight && table.isCrossOrigin(pathOf(request)) ? preflightOf(methods) : {};
    response.writeHead(204, { Allow: allow, ...granted }).end();
    return;
  }
  const detail = `This path takes ${allow}.`;
  answerProblem(
    request,
    response,
    new Problem('method_not_allowed', { detail, headers: { Allow: allow } }),
    correlationId,
  );
}

/**
 * Who asks is not known before the request itself, and nothing but its answer says whether the page may read it (Fetch,
 * "CORS-preflight fetch"). `*` goes without cookies.
 */
function preflightOf(methods: readonly string[]): Record<string, string> {
  return {
    'Access-Control-Allow-Origin': '*',
    'Access-Control-Allow-Methods': methods.join(', '),
    'Access-Control-Allow-Headers': 'authorization, content-type',
    'Access-Control-Max-Age': '3600',
  };
}
