import type { IncomingMessage } from 'node:http';

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
]);
const NOT_RETURNED = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'transfer-encoding',
  'upgrade',
  'trailer',
]);

export interface Edge {
  correlationId: string;
  /** `https` when this listener holds the certificate; a proxy in front is believed only when told so. */
  protocol: 'http' | 'https';
  trustForwarded: boolean;
}

/** The request's headers as the module shall see them, flat (`name, value, name, value`), for undici. */
export function requestHeaders(request: IncomingMessage, edge: Edge): string[] {
  const named = namedByConnection(request.headers.connection);
  const raw = request.rawHeaders;
  const out: string[] = [];
  for (let i = 0; i < raw.length; i += 2) {
    const name = (raw[i] as string).toLowerCase();
    if (NOT_FORWARDED.has(name) || named?.has(name)) continue;
    out.push(name, raw[i + 1] as string);
  }
  const peer = request.socket.remoteAddress ?? '';
  const before = edge.trustForwarded ? request.headers['x-forwarded-for'] : undefined;
  out.push(
    'x-correlation-id',
    edge.correlationId,
    'x-forwarded-for',
    before === undefined ? peer : `${String(before)}, ${peer}`,
    'x-forwarded-proto',
    edge.trustForwarded ? String(request.headers['x-forwarded-proto'] ?? edge.protocol) : edge.protocol,
  );
  const host = request.headers.host;
  if (host !== undefined) out.push('x-forwarded-host', host);
  return out;
}

/** The module's headers as the caller shall see them; repeated ones (`Set-Cookie`) stay apart. */
export function responseHeaders(raw: readonly (Buffer | string)[], draining: boolean): string[] {
  const out: string[] = [];
  let named: Set<string> | undefined;
  for (let i = 0; i < raw.length; i += 2) {
    const name = String(raw[i]).toLowerCase();
    if (name === 'connection') named = namedByConnection(latin1(raw[i + 1]));
    if (!NOT_RETURNED.has(name)) out.push(name, latin1(raw[i + 1]));
  }
  if (draining) out.push('connection', 'close');
  return named === undefined ? out : without(out, named);
}

const latin1 = (value: Buffer | string | undefined): string =>
  typeof value === 'string' ? value : (value?.toString('latin1') ?? '');

function without(flat: string[], names: Set<string>): string[] {
  return flat.filter((_, i) => !names.has(flat[i - (i % 2)] as string) || flat[i - (i % 2)] === 'connection');
}

function namedByConnection(value: string | undefined): Set<string> | undefined {
  if (value === undefined || value === 'keep-alive' || value === 'close') return undefined;
  return new Set(value.split(',').map((name) => name.trim().toLowerCase()));
}
