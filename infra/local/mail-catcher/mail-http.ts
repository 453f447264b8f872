import { createHmac, randomBytes } from 'node:crypto';
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import {
  CHANNELS,
  type Channel,
  type ProviderMessage,
  parseMail,
  toDetails,
  toSummary,
} from './caught-message.ts';
import { MAIL_POLICY, PAGE, PAGE_POLICY } from './mail-page.ts';
import type { Mailbox, MessageFilter } from './mailbox.ts';

const LARGEST_PROVIDER_MESSAGE = 64 * 1024;
const LONGEST_WAIT_S = 30;
const USUALLY_LISTED = 50;
const MOST_LISTED = 200;

class Refusal extends Error {
  readonly status: number;
  /** As the platform's own lists name the same fault. */
  readonly code: string | undefined;
  constructor(status: number, message: string, code?: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** Serves the page and the messages as JSON, on the loopback address only. */
export async function serveMailbox(mailbox: Mailbox, port: number): Promise<Server> {
  const server = createServer((request, response) => {
    answer(mailbox, request, response).catch((error: unknown) => {
      const status = error instanceof Refusal ? error.status : 500;
      const code = error instanceof Refusal ? error.code : undefined;
      if (!response.headersSent) sendJson(response, { code, detail: (error as Error).message }, status);
      else response.destroy();
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  return server;
}

/** A page of another site can make a browser call here; it cannot make it name this host. */
const LOOPBACK_HOST = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?$/i;

async function answer(mailbox: Mailbox, request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (!LOOPBACK_HOST.test(request.headers.host ?? '')) throw new Refusal(403, 'Only reached as localhost.');
  const url = new URL(request.url ?? '/', 'http://localhost');
  const [, collection, id, part, index] = url.pathname.split('/');
  const route = `${request.method === 'HEAD' ? 'GET' : request.method} /${[collection, id && ':id', part, index && ':n'].filter(Boolean).join('/')}`;
  const message = (): NonNullable<ReturnType<Mailbox['get']>> => {
    const found = mailbox.get(decodeURIComponent(id ?? ''));
    if (!found) throw new Refusal(404, 'No such message; it may have made place for newer ones.');
    return found;
  };
  switch (route) {
    case 'GET /':
      return send(response, PAGE, 'text/html; charset=utf-8', { 'content-security-policy': PAGE_POLICY });
    case 'GET /messages':
      return list(mailbox, url.searchParams, request, response);
    case 'POST /messages':
      return takeProviderMessage(mailbox, request, response);
    case 'DELETE /messages':
      mailbox.clear();
      response.writeHead(204).end();
      return;
    case 'GET /messages/:id':
      return sendJson(response, await toDetails(message()));
    case 'GET /messages/:id/html': {
      const { html, text } = await toDetails(message());
      return send(response, html ?? `<pre>${escapeHtml(text)}</pre>`, 'text/html; charset=utf-8', {
        'content-security-policy': MAIL_POLICY,
      });
    }
    case 'GET /messages/:id/source':
      return send(response, message().raw, 'text/plain; charset=utf-8');
    case 'GET /messages/:id/attachments/:n': {
      const attachment = (await parseMail(message())).attachments[Number(index)];
      if (!attachment) throw new Refusal(404, 'No such attachment.');
      const { content, filename } = attachment;
      const bytes = typeof content === 'string' ? Buffer.from(content) : Buffer.from(content as ArrayBuffer);
      return send(response, bytes, 'application/octet-stream', {
        'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(filename ?? 'unnamed')}`,
      });
    }
    case 'GET /changes':
      return streamChanges(mailbox, request, response);
    case 'GET /health':
      return sendJson(response, { status: 'ok' });
    default:
      throw new Refusal(404, 'Try / or /messages.');
  }
}

/**
 * `GET /messages?to=&correlation_id=&channel=&q=&limit=&cursor=&wait=`, newest first, paged as the platform's lists are.
 * Only a first page waits: nothing older than a message is still to come.
 */
async function list(
  mailbox: Mailbox,
  query: URLSearchParams,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const known = ['to', 'correlation_id', 'channel', 'q', 'limit', 'cursor', 'wait'];
  const unknown = [...query.keys()].find((name) => !known.includes(name));
  if (unknown !== undefined)
    throw new Refusal(400, `Unknown parameter ${unknown}; there are ${known.join(', ')}.`);
  const channel = query.get('channel') ?? undefined;
  if (channel !== undefined && !isChannel(channel))
    throw new Refusal(400, `channel is one of ${CHANNELS.join(', ')}.`);
  const filter: MessageFilter = {
    to: query.get('to') ?? undefined,
    correlationId: query.get('correlation_id') ?? undefined,
    channel,
    words: query.get('q') ?? undefined,
  };
  const limit = readLimit(query);
  const before = cursors.read(query.get('cursor'), filter);
  const wait = before === undefined ? Math.min(wholeNumber(query, 'wait', 0), LONGEST_WAIT_S) : 0;
  const deadline = Date.now() + wait * 1000;
  // One more than is shown tells whether there is a next page.
  let found = await mailbox.find(filter, limit + 1, before);
  while (found.length === 0 && Date.now() < deadline && !request.destroyed) {
    await nextChange(mailbox, deadline);
    found = await mailbox.find(filter, limit + 1, before);
  }
  const data = found.slice(0, limit);
  const last = found.length > limit ? data.at(-1) : undefined;
  sendJson(response, {
    data: data.map(toSummary),
    page: { limit, next_cursor: last ? cursors.after(last.id, filter) : null },
    kept: mailbox.count,
    taken: mailbox.everTaken,
  });
}

function readLimit(query: URLSearchParams): number {
  const text = query.get('limit') ?? String(USUALLY_LISTED);
  if (!/^[1-9]\d{0,8}$/.test(text))
    throw new Refusal(400, 'limit is a whole number of at least 1.', 'invalid_limit');
  return Math.min(Number(text), MOST_LISTED);
}

/** Cursors as the platform's lists have them: opaque, of one search, and of no use once altered. */
class Cursors {
  /** Another one after a restart: a page that was open then begins anew. */
  private readonly secret = randomBytes(32);

  after(id: string, filter: MessageFilter): string {
    const body = Buffer.from(JSON.stringify([id, this.seal(JSON.stringify(filter))]));
    return `${body.toString('base64url')}.${this.seal(body)}`;
  }

  /** @returns the message the page begins after */
  read(text: string | null, filter: MessageFilter): string | undefined {
    if (text === null) return undefined;
    const [body = ''] = text.split('.');
    const bytes = Buffer.from(body, 'base64url');
    if (`${bytes.toString('base64url')}.${this.seal(bytes)}` !== text)
      throw new Refusal(400, 'The cursor is none of this list.', 'invalid_cursor');
    const [id, of] = JSON.parse(bytes.toString('utf8')) as [string, string];
    if (of !== this.seal(JSON.stringify(filter)))
      throw new Refusal(400, 'The cursor belongs to another search.', 'cursor_mismatch');
    return id;
  }

  private seal(data: string | Buffer): string {
    return createHmac('sha256', this.secret).update(data).digest('base64url');
  }
}

const cursors = new Cursors();

function nextChange(mailbox: Mailbox, deadline: number): Promise<void> {
  return new Promise((resolve) => {
    const finish = (): void => {
      clearTimeout(timer);
      unwatch();
      resolve();
    };
    const timer = setTimeout(finish, Math.max(0, deadline - Date.now()));
    const unwatch = mailbox.watch(finish);
  });
}

function wholeNumber(query: URLSearchParams, name: string, otherwise: number): number {
  const text = query.get(name);
  if (text === null) return otherwise;
  if (!/^\d{1,6}$/.test(text)) throw new Refusal(400, `${name} is a whole number.`);
  return Number(text);
}

/** What the platform's providers of sms, push and whatsapp call; the answer names the message as a provider does. */
async function takeProviderMessage(
  mailbox: Mailbox,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > LARGEST_PROVIDER_MESSAGE) throw new Refusal(413, 'A message is at most 64 KiB.');
    chunks.push(chunk);
  }
  const message = readProviderMessage(Buffer.concat(chunks).toString('utf8'));
  const { id } = mailbox.takeProviderMessage(message);
  sendJson(response, { id, provider_message_id: id }, 201);
}

function readProviderMessage(text: string): ProviderMessage {
  let message: Partial<ProviderMessage>;
  try {
    message = JSON.parse(text) as Partial<ProviderMessage>;
  } catch (cause) {
    throw new Refusal(400, `The body is no JSON: ${(cause as Error).message}`);
  }
  if (!isChannel(message.channel) || typeof message.to !== 'string')
    throw new Refusal(400, `A message needs "to" and a "channel" of ${CHANNELS.join(', ')}.`);
  return message as ProviderMessage;
}

const isChannel = (value: unknown): value is Channel => CHANNELS.includes(value as Channel);

/** Server-sent events: at most one a quarter of a second, however fast messages come. */
function streamChanges(mailbox: Mailbox, request: IncomingMessage, response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
  const tell = (): void => void response.write(`data: ${mailbox.everTaken}\n\n`);
  tell();
  let soon: NodeJS.Timeout | undefined;
  const unwatch = mailbox.watch(() => {
    soon ??= setTimeout(() => {
      soon = undefined;
      tell();
    }, 250);
  });
  request.once('close', () => {
    unwatch();
    clearTimeout(soon);
  });
}

function sendJson(response: ServerResponse, body: unknown, status = 200): void {
  send(response, `${JSON.stringify(body, null, 2)}\n`, 'application/json; charset=utf-8', {}, status);
}

function send(
  response: ServerResponse,
  body: string | Buffer,
  type: string,
  headers: Record<string, string> = {},
  status = 200,
): void {
  response.writeHead(status, {
    'content-type': type,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    ...headers,
  });
  response.end(body);
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
