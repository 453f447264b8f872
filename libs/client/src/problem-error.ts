import type { ProblemCode } from './api.js';

/** One field, parameter or batch item that a request got wrong. */
export interface FieldProblem {
  /** JSON Pointer into the body. */
  pointer?: string;
  /** Name of a query or path parameter. */
  parameter?: string;
  /** Place in a batch. */
  index?: number;
  code: string;
  detail?: string;
}

/** Which call an error belongs to: `GET /v1/core/contacts/{id}`, without ids and without the query. */
export interface CallName {
  readonly method: string;
  readonly path: string;
}

/** What an answer that refuses says of itself, however much of it is there. */
interface Refusal {
  status: number;
  headers: Headers;
  text: string;
}

/**
 * The service, or something in front of it, refused: any answer that is not 2xx.
 *
 * `code` is what to switch on; it is stable. Where the answer names none, as an error page of a proxy does, it is
 * `http_<status>`.
 */
export class ProblemError extends Error implements CallName {
  override readonly name = 'ProblemError';
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly code: ProblemCode | (string & {});
  readonly title: string;
  readonly detail: string | undefined;
  /** One for each field at fault, of a batch one for each item; else empty. */
  readonly errors: readonly FieldProblem[];
  /** What to give to support: it leads to the log lines. */
  readonly correlationId: string | undefined;
  /** Seconds after which to try again, where the answer says so. */
  readonly retryAfter: number | undefined;
  /** The body: parsed where it is JSON, else its text. It has what single codes add, such as `conflicting_id`. */
  readonly body: unknown;

  constructor(call: CallName, { status, headers, text }: Refusal, now: number) {
    const body = parsed(text);
    const said = isRecord(body) ? body : {};
    const title = textIn(said, 'title') ?? `HTTP ${status}`;
    const detail = textIn(said, 'detail');
    super(`${call.method} ${call.path}: ${detail === undefined ? title : `${title}: ${detail}`}`);
    this.method = call.method;
    this.path = call.path;
    this.status = status;
    this.code = textIn(said, 'code') ?? `http_${status}`;
    this.title = title;
    this.detail = detail;
    this.errors = Array.isArray(said['errors'])
      ? (said['errors'].filter(isRecord) as unknown as FieldProblem[])
      : [];
    this.correlationId = textIn(said, 'correlation_id') ?? headers.get('x-correlation-id') ?? undefined;
    this.retryAfter = secondsUntil(headers.get('retry-after'), now);
    this.body = body;
  }
}

/** How a call ended without an answer of the service. */
export type NetworkFault =
  /** No connection, or it broke before the answer was whole. */
  | 'unreachable'
  /** No whole answer within the time for one attempt. */
  | 'timeout'
  /** A 2xx answer that is not JSON: something else answered. */
  | 'unreadable'
  /** A redirect that is not followed: of anything but a GET, or to another origin. */
  | 'redirected';

/** No answer of the service came. Whether the call was carried out is not known. */
export class NetworkError extends Error implements CallName {
  override readonly name = 'NetworkError';
  readonly method: string;
  readonly path: string;
  readonly fault: NetworkFault;

  constructor(call: CallName, fault: NetworkFault, cause?: unknown) {
    super(`${call.method} ${call.path}: ${FAULTS[fault]}`, { cause });
    this.method = call.method;
    this.path = call.path;
    this.fault = fault;
  }
}

const FAULTS: Record<NetworkFault, string> = {
  unreachable: 'the connection could not be made, or broke',
  timeout: 'no answer came in time',
  unreadable: 'the answer is not JSON',
  redirected: 'the answer leads elsewhere, where nothing is sent',
};

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function textIn(record: Record<string, unknown>, name: string): string | undefined {
  const value = record[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** Both forms of the header (RFC 9110, 10.2.3): seconds, or a date. */
function secondsUntil(header: string | null, now: number): number | undefined {
  if (header === null) return undefined;
  const text = header.trim();
  if (/^\d+$/.test(text)) return Number(text);
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, (at - now) / 1000);
}
