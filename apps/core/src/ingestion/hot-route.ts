import type { IncomingMessage, ServerResponse } from 'node:http';
import { Injectable } from '@nestjs/common';
import { correlationIdFrom } from '@customer-platform/events';
import { answerError, runWithCorrelation } from '@customer-platform/http';
import { Problem, PROBLEM_CONTENT_TYPE } from '@customer-platform/problem-json';
import { IngestionRequests, type IngestionAnswer, type IngestionRoute } from './ingestion-request.js';

const ROUTES: ReadonlyMap<string, IngestionRoute> = new Map([
  ['/v1/core/track', 'track'],
  ['/v1/core/identify', 'identify'],
  ['/v1/core/batch', 'batch'],
]);

/**
 * Pages of any origin may send events and read what they are answered (contract.md §6). `*` goes without cookies, which
 * these routes do not read. A page sees of the headers only what is named here.
 */
const FROM_PAGES = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': 'Retry-After, X-Correlation-Id',
};

/**
 * Answers the ingestion routes before Express sees them: what Express and Nest do for a request costs several times
 * what judging and queueing an event does.
 */
@Injectable()
export class HotRoute {
  constructor(private readonly requests: IngestionRequests) {}

  /** True if the request is one of ours and will be answered. */
  take(request: IncomingMessage, response: ServerResponse): boolean {
    if (request.method !== 'POST' || request.headers.host === undefined) return false;
    const route = routeOf(request.url ?? '');
    if (route === undefined) return false;
    void this.answer(route, request, response);
    return true;
  }

  private async answer(
    route: IngestionRoute,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    // Its own id is the answer's only where no event's is: the batch, and whatever is refused.
    const correlationId = correlationIdFrom(request.headers['x-correlation-id']);
    try {
      send(response, await this.requests.serve(route, request), correlationId);
    } catch (error) {
      if (error instanceof Problem && error.code === 'overloaded')
        return refuse(route, response, error, correlationId);
      for (const [name, value] of Object.entries(FROM_PAGES)) response.setHeader(name, value);
      runWithCorrelation(correlationId, () => answerError(request, response, error, correlationId));
    }
  }
}

function routeOf(url: string): IngestionRoute | undefined {
  const query = url.indexOf('?');
  return ROUTES.get(query === -1 ? url : url.slice(0, query));
}

function send(response: ServerResponse, { text, headers }: IngestionAnswer, correlationId: string): void {
  response.writeHead(202, {
    'X-Correlation-Id': correlationId,
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(text),
    'Cache-Control': 'no-store',
    ...FROM_PAGES,
    ...headers,
  });
  response.end(text);
}

/** One of very many: no line of the log tells of it, a figure does. */
function refuse(
  route: IngestionRoute,
  response: ServerResponse,
  problem: Problem,
  correlationId: string,
): void {
  const text = JSON.stringify(problem.toBody({ instance: `/v1/core/${route}`, correlationId }));
  response.writeHead(problem.status, {
    'X-Correlation-Id': correlationId,
    'Content-Type': PROBLEM_CONTENT_TYPE,
    'Content-Length': Buffer.byteLength(text),
    'Cache-Control': 'no-store',
    ...FROM_PAGES,
    ...problem.headers,
  });
  response.end(text);
}
