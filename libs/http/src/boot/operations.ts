import { readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { correlationIdFrom } from '@customer-platform/events';
import { metrics } from '../observe/metrics.js';
import { readiness } from '../observe/readiness.js';
import { answerError } from '../problems/answer-problem.js';

/** The paths that every app answers beside its routes, on its public listener; the gateway does not pass them on. */
export class Operations {
  /** False from the first sign of shutdown: the balancer then sends no more. */
  accepting = false;

  constructor(private readonly openApi: Buffer | undefined) {}

  /** Answers one of its paths; false if the request is for something else. */
  handle(request: IncomingMessage, response: ServerResponse): boolean {
    if (request.method !== 'GET' && request.method !== 'HEAD') return false;
    // What cannot be read must not end who serves everybody.
    const fail = (error: unknown): void =>
      answerError(request, response, error, correlationIdFrom(request.headers['x-correlation-id']));
    switch (request.url) {
      case '/health/live':
        write(response, 200, { status: 'live' });
        return true;
      case '/health/ready':
        this.answerReadiness(response).catch(fail);
        return true;
      case '/metrics':
        this.answerMetrics(response).catch(fail);
        return true;
      case '/openapi.json':
        if (!this.openApi) return false;
        response.writeHead(200, { 'Content-Type': 'application/json; charset=utf-8' }).end(this.openApi);
        return true;
      default:
        return false;
    }
  }

  private async answerReadiness(response: ServerResponse): Promise<void> {
    const { ready, checks } = await readiness();
    const serving = ready && this.accepting;
    write(response, serving ? 200 : 503, { status: serving ? 'ready' : 'not_ready', checks });
  }

  private async answerMetrics(response: ServerResponse): Promise<void> {
    const text = await metrics.metrics();
    response.writeHead(200, { 'Content-Type': metrics.contentType }).end(text);
  }
}

function write(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, {
    'Content-Type': 'application/json; charset=utf-8',
    'Cache-Control': 'no-store',
  });
  response.end(JSON.stringify(body));
}

/** The committed description of the API; undefined if there is none yet. */
export async function readOpenApi(file: URL | string | undefined): Promise<Buffer | undefined> {
  if (file === undefined) return undefined;
  try {
    return await readFile(file);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
