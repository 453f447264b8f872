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
    response.writeHead(204, { Allow: allow }).end();
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
