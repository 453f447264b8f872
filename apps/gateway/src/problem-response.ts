import { STATUS_CODES, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { PROBLEM_CONTENT_TYPE, Problem, type ProblemCode } from '@customer-platform/problem-json';

/** Who was refused on a bare socket has so long to end its side. */
const ENDS_WITHIN_MS = 10_000;

interface Where {
  /** The request's path without its query: queries can carry addresses. */
  instance: string;
  correlationId: string;
}

/** Answers with a problem; once the head has gone out, the connection is cut, which is all that is left to say. */
export function answerProblem(
  response: ServerResponse,
  problem: Problem,
  where: Where,
  options: { close?: boolean } = {},
): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const body = JSON.stringify(problem.toBody(where));
  response.writeHead(problem.status, {
    ...problem.headers,
    'content-type': PROBLEM_CONTENT_TYPE,
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
    'x-correlation-id': where.correlationId,
    ...(options.close === true ? { connection: 'close' } : {}),
  });
  response.end(response.req.method === 'HEAD' ? undefined : body);
}

/** The same on a bare socket, where Node's parser refused the request before there was one. */
export function answerProblemOnSocket(socket: Socket, code: ProblemCode, correlationId: string): void {
  // Node listens no more to a socket that it has handed over; an error that nobody hears ends the process.
  socket.on('error', () => socket.destroy());
  if (!socket.writable) return void socket.destroy();
  const allow = { allow: 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS' };
  const problem = new Problem(code, code === 'method_not_allowed' ? { headers: allow } : {});
  const body = JSON.stringify(problem.toBody({ instance: '/', correlationId }));
  const head = [
    `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status] ?? ''}`,
    ...Object.entries(problem.headers).map(([name, value]) => `${name}: ${value}`),
    `content-type: ${PROBLEM_CONTENT_TYPE}`,
    `content-length: ${Buffer.byteLength(body)}`,
    `x-correlation-id: ${correlationId}`,
    'connection: close',
  ];
  // Nobody else ends a socket that was handed over, should its peer keep its side open.
  const late = setTimeout(() => socket.destroy(), ENDS_WITHIN_MS).unref();
  socket.once('close', () => clearTimeout(late));
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}
