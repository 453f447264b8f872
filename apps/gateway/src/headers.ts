import type { IncomingMessage } from 'node:http';
import { REFUSES_FOR } from '@customer-platform/config';
import type { Origin } from './origin.js';

/** Headers that belong to one connection and end at it (RFC 9110 §7.6.1), and those that only the gateway may set. */
const NOT_FORWARDED = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'expect',
  'host',
  'x-correlation-id',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'forwarded',
  // Modules ask one another by it (crm.md §4).
  'x-timeline-parts',
]);
const NOT_RETURNED = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'transfer-encoding',
  'upgrade',
  'trailer',
  REFUSES_FOR,
  // Only the gateway knows how the caller came.
  'strict-transport-security',
]);

/** What says who the caller is. It concerns the modules alone. */
const CREDENTIALS = new Set(['authorization', 'cookie']);

/** What the gateway says of a request to the modules. */
export interface Edge extends Origin {
  correlationId: string;
  /** Of `PUBLIC_URL`; never what a caller says. */
  publicHost: string;
}

/**
 * The request's headers as the module shall see them, flat (`name, value, name, value`), for undici; to who is `anonymous`
 * without the caller's credentials.
 */
export function requestHeaders(
  request: IncomingMessage,
  edge: Edge,
  { anonymous = false }: { anonymous?: boolean } = {},
): string[] {
  const named = namedByConnection(request.headers.connection);
  const raw = request.rawHeaders;
  const out: string[] = [];
  for (let i = 0; i < raw.length; i += 2) {
    const name = (raw[i] as string).toLowerCase();
    if (NOT_FORWARDED.has(name) || named?.has(name)) continue;
    if (anonymous && CREDENTIALS.has(name)) continue;
    out.push(name, raw[i + 1] as string);
  }
  out.push('x-correlation-id', edge.correlationId);
  out.push('x-forwarded-for', edge.address, 'x-forwarded-proto', edge.protocol);
  out.push('x-forwarded-host', edge.publicHost);
  return out;
}

/** The module's headers as the caller shall see them; repeated ones (`Set-Cookie`) stay apart. */
export function responseHeaders(raw: readonly (Buffer | string)[], correlationId: string): string[] {
  const out: string[] = [];
  let correlated = false;
  let named: Set<string> | undefined;
  for (let i = 0; i < raw.length; i += 2) {
    const name = String(raw[i]).toLowerCase();
    if (name === 'x-correlation-id') correlated = true;
    if (name === 'connection') named = namedByConnection(latin1(raw[i + 1]));
    if (!NOT_RETURNED.has(name)) out.push(name, latin1(raw[i + 1]));
  }
  // An event's own id stands there after an ingestion call; whoever sends none gets the request's.
  if (!correlated) out.push('x-correlation-id', correlationId);
  return named === undefined ? out : without(out, named);
}

const latin1 = (value: Buffer | string | undefined): string =>
  typeof value === 'string' ? value : (value?.toString('latin1') ?? '');

function without(flat: string[], names: Set<string>): string[] {
  return flat.filter((_, i) => !names.has(flat[i - (i % 2)] as string));
}

function namedByConnection(value: string | undefined): Set<string> | undefined {
  if (value === undefined || value === 'keep-alive' || value === 'close') return undefined;
  return new Set(value.split(',').map((name) => name.trim().toLowerCase()));
}
