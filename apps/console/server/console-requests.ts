import { randomUUID } from 'node:crypto';
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { CONSOLE_CLIENT_ID, CONSOLE_PATHS } from '@customer-platform/config';
import { Problem, PROBLEM_CONTENT_TYPE } from '@customer-platform/problem-json';
import { acceptedEncoding } from './accepted-encoding.js';
import type { BuiltFile } from './built-files.js';
import { MAIL_PREVIEW } from './mail-preview.js';
import { securityHeaders } from './security-headers.js';

const BASE = CONSOLE_PATHS.home;
/** What the pages are told before they can ask anybody. Nothing in it is secret. */
const CONFIGURATION = `${BASE}config.json`;
/** A year; the name of such a file has its content's hash in it. */
const FOR_EVER = 'public, max-age=31536000, immutable';
const HASHED = /^assets\//;
/** What looks like a file is one, or missing: it is no page of the application. */
const FILE_LIKE = /\.[A-Za-z0-9]{1,8}$/;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** What answers are made of. */
export interface ConsoleParts {
  readonly files: ReadonlyMap<string, BuiltFile>;
  readonly release: string;
}

/** Answers requests for the Console: its files, its one page under every address of its own, its configuration. */
export function answerConsole({
  files,
  release,
}: ConsoleParts): (request: IncomingMessage, response: ServerResponse) => void {
  const configuration = JSON.stringify({ client_id: CONSOLE_CLIENT_ID, release });
  return (request, response) => {
    request.resume();
    const [path = ''] = (request.url ?? '/').split('?', 1);
    response.setHeaders(new Headers(securityHeaders(path)));
    if (!path.startsWith(BASE)) return refuse(request, response, path, new Problem('route_not_found'));
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      const headers = { allow: 'GET, HEAD' };
      return refuse(request, response, path, new Problem('method_not_allowed', { headers }));
    }
    if (path === CONFIGURATION) {
      const bytes = Buffer.from(configuration);
      const type = 'application/json; charset=utf-8';
      return send(request, response, { 'content-type': type, 'cache-control': 'no-store' }, bytes);
    }
    if (path === CONSOLE_PATHS.mailPreview) {
      const headers = { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' };
      return send(request, response, headers, MAIL_PREVIEW);
    }
    const name = path.slice(BASE.length);
    const found = files.get(name) ?? (FILE_LIKE.test(name) ? undefined : files.get('index.html'));
    if (found === undefined) return refuse(request, response, path, new Problem('route_not_found'));
    answerFile(request, response, name, found);
  };
}

function answerFile(
  request: IncomingMessage,
  response: ServerResponse,
  name: string,
  { type, plain, encoded }: BuiltFile,
): void {
  const accepted = acceptedEncoding(request.headers['accept-encoding']);
  const { bytes, etag, encoding } = (accepted && encoded[accepted]) ?? plain;
  const headers = {
    'content-type': type,
    'cache-control': cachingOf(name, type),
    etag,
    ...(Object.keys(encoded).length === 0 ? {} : { vary: 'Accept-Encoding' }),
    ...(encoding === undefined ? {} : { 'content-encoding': encoding }),
  };
  if (isKnown(request.headers['if-none-match'], etag)) {
    const { 'content-type': _type, 'content-encoding': _encoding, ...rest } = headers as OutgoingHttpHeaders;
    response.writeHead(304, rest).end();
    return;
  }
  send(request, response, headers, bytes);
}

/**
 * A page is asked for anew each time, which also keeps browsers from bringing a former one back with what it showed once
 * the cookies of its sign-in have gone.
 */
function cachingOf(name: string, type: string): string {
  if (HASHED.test(name)) return FOR_EVER;
  return type.startsWith('text/html') ? 'no-store' : 'no-cache';
}

/** `If-None-Match` compares weakly (RFC 9110 §13.1.2). */
function isKnown(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  return header.split(',').some((one) => one.trim() === '*' || one.trim().replace(/^W\//, '') === etag);
}

function refuse(request: IncomingMessage, response: ServerResponse, path: string, problem: Problem): void {
  const given = request.headers['x-correlation-id'];
  const correlationId = typeof given === 'string' && UUID.test(given) ? given.toLowerCase() : randomUUID();
  const body = Buffer.from(JSON.stringify(problem.toBody({ instance: path, correlationId })));
  const headers = {
    ...problem.headers,
    'content-type': PROBLEM_CONTENT_TYPE,
    'cache-control': 'no-store',
    'x-correlation-id': correlationId,
  };
  send(request, response, headers, body, problem.status);
}

function send(
  request: IncomingMessage,
  response: ServerResponse,
  headers: OutgoingHttpHeaders,
  bytes: Buffer,
  status = 200,
): void {
  response.writeHead(status, { ...headers, 'content-length': bytes.length });
  response.end(request.method === 'HEAD' ? undefined : bytes);
}
