import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { correlationIdFrom } from '@customer-platform/events';
import type { ProblemCode } from '@customer-platform/problem-json';
import { answerProblemOnSocket } from './problem-response.js';
import { LONGEST_TARGET } from './request-target.js';

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

/** Answers what Node's parser refuses before there is a request, as a problem, and ends the connection. */
export function refuseUnreadable(error: ParserError, socket: Socket): void {
  const answering = (socket as Socket & { _httpMessage?: ServerResponse })._httpMessage;
  // A second answer behind one that has begun would be taken for another request's.
  if (error.code === 'ECONNRESET' || answering?.headersSent === true) {
    socket.destroy();
    return;
  }
  const overflow = error.code === 'HPE_HEADER_OVERFLOW' && beginsWithLongTarget(error.rawPacket);
  const code = overflow ? 'uri_too_long' : (CODES[error.code ?? ''] ?? 'malformed_request');
  answerProblemOnSocket(socket, code, correlationIdFrom(undefined));
}

/** The parser counts the target among the headers; which of the two was too long shows in the first line. */
function beginsWithLongTarget(packet: Buffer | undefined): boolean {
  if (packet === undefined || !/^[A-Z]{1,16} \S/.test(packet.subarray(0, 20).toString('latin1')))
    return false;
  const end = packet.indexOf('\r\n');
  return end === -1 || end > LONGEST_TARGET;
}
