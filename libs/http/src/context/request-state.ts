import type { IncomingMessage } from 'node:http';
import type { Cursors } from '../lists/cursors.js';
import type { RouteDeclaration } from '../endpoints/route-declaration.js';
import type { RequestContext } from './request-context.js';

/** Which listener took a request: the one behind the gateway, or the one between modules. */
export type ListenerName = 'public' | 'internal';

/** What the libraries keep of a request while it is served. */
export interface RequestState {
  readonly correlationId: string;
  readonly listener: ListenerName;
  readonly cursors: Cursors;
  /** Whether the app is ending: what lasts begins no more. */
  readonly isDraining: () => boolean;
  route?: RouteDeclaration;
  context?: RequestContext;
  /** The parsed body; undefined if none was sent. */
  body?: unknown;
  rawBody?: Buffer;
  /** On routes that read their body themselves and take `Idempotency-Key`: see {@link Once}. */
  once?: Once;
}

/**
 * Runs an operation once for the key of the request, or answers what it answered then. `body` is what tells one request
 * from another: of an upload its options and the digest of its file.
 * @throws Problem `idempotency_key_reused`, `idempotency_in_progress`
 */
export type Once = (body: unknown, run: () => Promise<unknown>) => Promise<unknown>;

const STATE = Symbol('request state');

/** A request that carries its state. */
type StatefulRequest = IncomingMessage & { [STATE]?: RequestState };

/** Attaches the state; done once, before anything else sees the request. */
export function attachState(request: IncomingMessage, state: RequestState): void {
  (request as StatefulRequest)[STATE] = state;
}

/** The state of a request served by `createApp`. */
export function stateOf(request: IncomingMessage): RequestState {
  const state = (request as StatefulRequest)[STATE];
  if (!state) throw new Error('The request was not received by a platform listener');
  return state;
}

/** The correlation id of a request, for whoever answers it without a context. */
export function correlationIdOf(request: IncomingMessage): string {
  return stateOf(request).correlationId;
}

/** Whether a request was received by the platform's own path, not taken by an app's raw hook before. */
export function hasState(request: IncomingMessage): boolean {
  return (request as StatefulRequest)[STATE] !== undefined;
}

/** The path of a request as sent, without its query. */
export function pathOf(request: IncomingMessage): string {
  const url = request.url ?? '/';
  const mark = url.indexOf('?');
  return mark === -1 ? url : url.slice(0, mark);
}
