import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { STATUS_CODES } from 'node:http';
import { correlationIdFrom } from '@customer-platform/events';
import { Problem, PROBLEM_CONTENT_TYPE, type ProblemCode } from '@customer-platform/problem-json';

/** The longest request target taken, in bytes; the parser itself counts it among the headers. */
export const MAX_URI_BYTES = 8 * 1024;

/** How long a connection that was refused may stay, so that its answer arrives, in milliseconds. */
const LINGER_MS = 10_000;

/** What Node's parser reports, with the bytes it stumbled on. */
interface ParserError extends Error {
  code?: string;
  rawPacket?: Buffer;
}

const CODES: Readonly<Record<string, ProblemCode>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 'body_too_large',
};

/**
 * Answers what Node's HTTP parser refuses by itself, before there is a request: 400, 408, 414, 431, each as a
 * problem, and closes the connection, whose further bytes cannot be told apart.
 */
export function answerClientError(error: Error, socket: Duplex): void {
  const { code = '', rawPacket } = error as ParserError;
  const answering = (socket as Duplex & { _httpMessage?: ServerResponse })._httpMessage;
  // A broken body shows after its answer has begun: a second answer on the wire would be taken for another's.
  if (code === 'ECONNRESET' || !socket.writable || answering?.headersSent) {
    socket.destroy();
    return;
  }
  const isUri = code === 'HPE_HEADER_OVERFLOW' && rawPacket !== undefined && beginsWithLongTarget(rawPacket);
  socket.end(rawProblem(new Problem(isUri ? 'uri_too_long' : (CODES[code] ?? 'malformed_request'))));
  // Whoever does not close its side would keep the connection.
  const late = setTimeout(() => socket.destroy(), LINGER_MS).unref();
  socket.once('close', () => clearTimeout(late));
}

/** A whole HTTP answer with a problem, for a connection that has no response object; it closes the connection. */
export function rawProblem(problem: Problem, correlationId: string = correlationIdFrom(undefined)): string {
  const text = JSON.stringify(problem.toBody({ instance: '/', correlationId }));
  const headers = Object.entries(problem.headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return (
    `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status] ?? ''}\r\n` +
    `Content-Type: ${PROBLEM_CONTENT_TYPE}\r\nContent-Length: ${Buffer.byteLength(text)}\r\n` +
    `X-Correlation-Id: ${correlationId}\r\nCache-Control: no-store\r\n${headers.join('')}Connection: close\r\n\r\n${text}`
  );
}

function beginsWithLongTarget(packet: Buffer): boolean {
  if (!/^[A-Z]{1,16} \S/.test(packet.subarray(0, 20).toString('latin1'))) return false;
  const end = packet.indexOf('\r\n');
  return end === -1 || end > MAX_URI_BYTES;
}
