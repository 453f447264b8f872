import type { IncomingMessage, ServerResponse } from 'node:http';
import { correlationIdFrom } from '@customer-platform/events';
import { runForCaller } from '../observe/correlation.js';
import { answerError } from '../problems/answer-problem.js';

/** The injection token of an app's {@link EarlyRoute}. */
export const EARLY_ROUTE = Symbol('EARLY_ROUTE');

/** Answers some requests of the public listener before Express sees them. It matches literal paths. */
export interface EarlyRoute {
  /** True if the request is one of its own and will be answered. */
  take(request: IncomingMessage, response: ServerResponse): boolean;
}

/** A body and its type. */
interface EarlyAnswer {
  readonly text: string;
  readonly type: string;
}

/** Answers with what `work` resolves to, 200, or with the problem that it throws; under the caller's correlation id. */
export async function answerEarly(
  request: IncomingMessage,
  response: ServerResponse,
  work: () => Promise<EarlyAnswer>,
): Promise<void> {
  const correlationId = correlationIdFrom(request.headers['x-correlation-id']);
  await runForCaller(correlationId, response, async () => {
    try {
      const { text, type } = await work();
      if (response.destroyed) return;
      response.writeHead(200, {
        'X-Correlation-Id': correlationId,
        'Content-Type': type,
        'Content-Length': Buffer.byteLength(text),
        'Cache-Control': 'no-store',
      });
      response.end(text);
    } catch (error) {
      answerError(request, response, error, correlationId);
    }
  });
}
