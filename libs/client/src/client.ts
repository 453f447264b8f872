import createFetchClient, { type Client as FetchClient } from 'openapi-fetch';
import { KEYLESS_POSTS } from './api.js';
import { receive, type Received, type Send } from './attempt.js';
import { CredentialSource, type Credentials } from './credentials.js';
import { type CallName, NetworkError, ProblemError } from './problem-error.js';
import { DEFAULTS, pause, type Repetition, type RetryOptions, waitBeforeNext } from './retries.js';
import { replacedId, serializePath, serializeQuery } from './serialize.js';
import type { Answer, CallOptions, DataOf, InitOf, ItemOf, ListPath, Method, PathWith } from './routes.js';

/** What became of an attempt that failed. */
export interface FailedAttempt extends CallName {
  /** 1 for the first. */
  attempt: number;
  /** When it is tried again; undefined: it is not, and the call throws. */
  retryInMs: number | undefined;
}

/** What a client is made of. */
export interface ClientSettings {
  /** Where the gateway answers: `https://api.example.com`. In a browser `/` is the page's own origin. */
  baseUrl: string;
  /** Left out for routes that need none. */
  credentials?: Credentials;
  /** In place of the global `fetch`. */
  fetch?: Send;
  /** Told of every attempt that failed, repeated or not. What it throws ends the call. */
  onProblem?: (error: ProblemError | NetworkError, attempt: FailedAttempt) => void;
  retry?: RetryOptions;
  /** How long one attempt may take, its whole answer included; 30 seconds unless given. */
  timeoutMs?: number;
  /** From 0 to 1, for the jitter; `Math.random` unless given. */
  random?: () => number;
}

/** Calls the routes of one method. */
export type Call<M extends Method> = <P extends PathWith<M>>(
  path: P,
  ...init: InitOf<M, P>
) => Promise<Answer<DataOf<M, P>>>;

/** The typed client of the public API. Every call answers a 2xx, or throws a `ProblemError` or a `NetworkError`. */
export interface Client {
  GET: Call<'get'>;
  POST: Call<'post'>;
  PUT: Call<'put'>;
  PATCH: Call<'patch'>;
  DELETE: Call<'delete'>;
  /** A list page by page, each asked for when it is wanted. Begins at `params.query.cursor` where that is given. */
  pages: <P extends ListPath>(
    path: P,
    ...init: InitOf<'get', P>
  ) => AsyncGenerator<DataOf<'get', P>, void, undefined>;
  /** A list item by item. */
  items: <P extends ListPath>(
    path: P,
    ...init: InitOf<'get', P>
  ) => AsyncGenerator<ItemOf<P>, void, undefined>;
}

/** A call's options as they come, whatever its route. */
interface AnyInit extends CallOptions {
  params?: {
    path?: Record<string, unknown>;
    query?: Record<string, unknown>;
    header?: Record<string, unknown>;
  };
  body?: unknown;
  bodyText?: string;
}

/** POST routes without `Idempotency-Key` that are done once all the same: by a key in the body, or they change nothing. */
const REPEATABLE_POSTS = new Set([
  '/v1/core/track',
  '/v1/core/identify',
  '/v1/core/batch',
  '/v1/core/segments/preview',
  '/v1/identity/permissions/explain',
  '/v1/messaging/campaigns/{id}/check',
  '/v1/messaging/templates/{id}/preview',
]);

/** A client; it keeps nothing open. @throws TypeError where `baseUrl` is no address. */
export function createClient(settings: ClientSettings): Client {
  const caller = new Caller(settings);
  const method =
    <M extends Method>(name: M): Call<M> =>
    (path, ...[init]) =>
      caller.call(name.toUpperCase(), path, init) as Promise<Answer<DataOf<M, typeof path>>>;
  const pages = (path: string, init?: AnyInit): AsyncGenerator<ListedPage> => walk(caller, path, init);
  return {
    GET: method('get'),
    POST: method('post'),
    PUT: method('put'),
    PATCH: method('patch'),
    DELETE: method('delete'),
    pages: pages as unknown as Client['pages'],
    items: async function* (path: string, init?: AnyInit) {
      for await (const { data } of pages(path, init)) yield* data;
    } as unknown as Client['items'],
  };
}

interface ListedPage {
  data: unknown[];
  page: { next_cursor: string | null };
}

async function* walk(caller: Caller, path: string, init?: AnyInit): AsyncGenerator<ListedPage> {
  let cursor = init?.params?.query?.['cursor'];
  do {
    const query = { ...init?.params?.query, cursor };
    const { data } = await caller.call('GET', path, { ...init, params: { ...init?.params, query } });
    const page = data as ListedPage;
    yield page;
    const next = page.page.next_cursor;
    if (next !== null && next === cursor) throw new Error(`GET ${path}: the page after this one is this one`);
    cursor = next;
  } while (typeof cursor === 'string');
}

class Caller {
  private readonly builder: FetchClient<Record<string, Record<Method, never>>>;
  private readonly source: CredentialSource;
  private readonly send: Send;
  private readonly retry: Required<RetryOptions>;
  private readonly settings: ClientSettings;

  constructor(settings: ClientSettings) {
    const { baseUrl, credentials, fetch, retry } = settings;
    this.settings = settings;
    this.source = new CredentialSource(credentials);
    this.send = fetch ?? ((request) => globalThis.fetch(request));
    this.retry = { ...DEFAULTS, ...retry };
    this.builder = createFetchClient({
      baseUrl: absolute(baseUrl),
      pathSerializer: serializePath,
      querySerializer: (query) => serializeQuery(query),
      // The service is asked with a token, never with the cookies that a browser has for its address.
      credentials: 'omit',
    });
  }

  async call(method: string, path: string, init: AnyInit = {}): Promise<Answer<unknown>> {
    const name = { method, path };
    const keyed = method === 'POST' && !KEYLESS_POSTS.includes(path);
    const headers = {
      ...init.headers,
      // One key for all attempts, so that however many arrive it is done once.
      ...(keyed ? { 'Idempotency-Key': init.idempotencyKey ?? randomKey() } : {}),
      ...(init.ifMatch === undefined ? {} : { 'If-Match': init.ifMatch }),
    };
    const began = performance.now();
    // eslint-disable-next-line house/no-endless-turns -- `waitBeforeNext` counts the attempts and their time, and `pause` hears the signal
    for (let attempts = 1; ; attempts += 1) {
      try {
        return await this.exchange(name, { ...init, headers });
      } catch (error) {
        if (!(error instanceof ProblemError || error instanceof NetworkError)) throw error;
        const made = { attempts, elapsedMs: performance.now() - began };
        const random = (this.settings.random ?? Math.random)();
        const retryInMs = waitBeforeNext(error, repetitionOf(name, init, keyed), made, this.retry, random);
        this.settings.onProblem?.(error, { ...name, attempt: attempts, retryInMs });
        if (retryInMs === undefined) throw error;
        await pause(retryInMs, init.signal);
      }
    }
  }

  /** One attempt; with a renewed token a second time where the first one's was refused. */
  private async exchange(name: CallName, init: AnyInit): Promise<Answer<unknown>> {
    const { token, since } = await this.source.current();
    const first = await this.ask(name, init, token);
    if (first.received.status !== 401 || !this.source.canRenew) return answerOf(name, first);
    const { code } = new ProblemError(name, first.received, Date.now());
    if (code !== 'token_expired' && code !== 'invalid_token') return answerOf(name, first);
    return answerOf(name, await this.ask(name, init, await this.source.renew(since)));
  }

  private async ask(name: CallName, init: AnyInit, token: string | undefined): Promise<Exchange> {
    const { signal, params, body, bodyText, headers } = init;
    const { timeoutMs = 30_000 } = this.settings;
    let exchange: Exchange | undefined;
    await this.builder.request(name.method.toLowerCase() as Method, name.path, {
      params,
      body: bodyText ?? body,
      ...(bodyText === undefined ? {} : { bodySerializer: (text: string) => text }),
      // Followed, a write would be sent on with its body, or become a GET whose answer says nothing of the write.
      redirect: name.method === 'GET' ? 'follow' : 'manual',
      headers: { ...headers, ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }) },
      // The body is read here, where a connection that breaks meanwhile can still be answered by another attempt.
      fetch: async (request: Request) => {
        const received = await receive(name, request, { send: this.send, signal, timeoutMs });
        exchange = { asked: request.url, received };
        return new Response(null, { status: 204 });
      },
    } as never);
    if (!exchange) throw new TypeError('The request was not sent');
    return exchange;
  }
}

/** A request's address and what came back. */
interface Exchange {
  asked: string;
  received: Received;
}

/** 128 random bits; `crypto.randomUUID` is missing on pages that came by plain HTTP. */
function randomKey(): string {
  const bytes = [...crypto.getRandomValues(new Uint8Array(16))];
  return bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

function repetitionOf({ method, path }: CallName, init: AnyInit, keyed: boolean): Repetition {
  if (method === 'POST') return keyed || REPEATABLE_POSTS.has(path) ? 'harmless' : 'risky';
  // A change that came through although its answer was lost may have been followed by another's by now.
  const changes = method === 'PATCH' || method === 'PUT';
  return changes && init.ifMatch === undefined ? 'risky' : 'harmless';
}

function answerOf(name: CallName, { asked, received }: Exchange): Answer<unknown> {
  const { status, headers, text, url } = received;
  if (!received.ok) throw new ProblemError(name, received, Date.now());
  return {
    data: parsed(name, text, headers),
    status,
    headers,
    etag: headers.get('etag') ?? undefined,
    correlationId: headers.get('x-correlation-id') ?? undefined,
    replayed: headers.get('idempotent-replay') === 'true',
    mergedInto: url === '' || url === asked ? undefined : replacedId(name.path, asked, url),
  };
}

function parsed(name: CallName, text: string, headers: Headers): unknown {
  if (text === '') return undefined;
  const isJson = /\bjson\b/.test(headers.get('content-type') ?? '');
  // The page that explains a problem code is the one route that answers text.
  if (!isJson && name.path === '/problems/{code}') return text;
  try {
    if (isJson) return JSON.parse(text) as unknown;
  } catch (cause) {
    throw new NetworkError(name, 'unreadable', cause);
  }
  throw new NetworkError(name, 'unreadable');
}

/** The address, against the page's own in a browser. */
function absolute(baseUrl: string): string {
  const page = (globalThis as { location?: { href: string } }).location?.href;
  const { origin, pathname } = new URL(baseUrl, page);
  return origin + pathname.replace(/\/$/, '');
}
