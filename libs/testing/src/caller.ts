import { setTimeout as pause } from 'node:timers/promises';
import { EventReader } from './event-reader.js';

/** An answer, its JSON parsed. */
export interface Answer<T = Record<string, never>> {
  status: number;
  headers: Headers;
  // What a test looks into is up to the test.
  body: T;
}

/** What a call sends besides its path. */
interface CallOptions {
  /** Sent as JSON. */
  body?: unknown;
  /** Sent as it is, in place of `body`. */
  bytes?: string | Uint8Array<ArrayBuffer>;
  headers?: Record<string, string>;
}

/** A machine busy with other tests may keep the registry from answering in time, or passwords waiting, for so long. */
const BUSY_MS = 10_000;
const AGAIN_AFTER_MS = 25;

/** A credential, or one for each route that is called. */
export type CallerKey = string | ((route: { method: string; path: string }) => Promise<string>);

/** A client with one credential, as a test speaks to a service. */
export class Caller {
  /**
   * `registryAnswers` says whether the registry is there: a call that was denied because it did not answer in time,
   * which has no effect by that, is then made again, as any client would. So is one that came when too many passwords
   * were waiting to be hashed.
   *
   * `keepsConnections: false` makes a connection for each call: one that is kept may be closed by another process just as
   * the next call goes out on it, and whether that call has had an effect nobody knows.
   *
   * `sendsAgain` names paths whose calls can be repeated: one that is answered with 503 is made again.
   */
  constructor(
    private readonly url: string,
    private readonly key?: CallerKey,
    private readonly registryAnswers: () => boolean = () => false,
    private readonly keepsConnections = true,
    private readonly sendsAgain: ReadonlySet<string> = new Set(),
  ) {}

  get<T = Record<string, never>>(path: string, options?: CallOptions): Promise<Answer<T>> {
    return this.call('GET', path, options);
  }

  post<T = Record<string, never>>(
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer<T>> {
    return this.call('POST', path, { body, headers });
  }

  patch<T = Record<string, never>>(
    path: string,
    body: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer<T>> {
    return this.call('PATCH', path, { body, headers });
  }

  delete<T = Record<string, never>>(path: string, options?: CallOptions): Promise<Answer<T>> {
    return this.call('DELETE', path, options);
  }

  /**
   * An answer of server-sent events, not read yet.
   * @throws Error with the status and the body of any other answer
   */
  async listen(path: string, headers: Record<string, string> = {}): Promise<EventReader> {
    const controller = new AbortController();
    const { signal } = controller;
    const credential = await this.credential('GET', path);
    const response = await fetch(this.url + path, { signal, headers: { ...credential, ...headers } });
    if (response.status === 200) return new EventReader(response, () => controller.abort());
    throw new Error(`${response.status} ${await response.text()}`);
  }

  /** The bytes of an answer, whatever it is. */
  async download(
    path: string,
    accept: string,
  ): Promise<{ status: number; headers: Headers; bytes: Uint8Array }> {
    const credential = await this.credential('GET', path);
    const response = await fetch(this.url + path, { headers: { ...credential, accept } });
    return {
      status: response.status,
      headers: response.headers,
      bytes: new Uint8Array(await response.arrayBuffer()),
    };
  }

  /** Any method; a redirect is an answer like another. */
  async call<T = Record<string, never>>(
    method: string,
    path: string,
    options: CallOptions = {},
  ): Promise<Answer<T>> {
    const giveUpAt = performance.now() + BUSY_MS;
    for (;;) {
      const answer = await this.exchange<T>(method, path, options);
      if (!this.isTooBusy(path, answer) || performance.now() > giveUpAt) return answer;
      await pause(AGAIN_AFTER_MS);
    }
  }

  private async credential(method: string, path: string): Promise<Record<string, string>> {
    const key = typeof this.key === 'function' ? await this.key({ method, path }) : this.key;
    return key === undefined ? {} : { authorization: `Bearer ${key}` };
  }

  private isTooBusy(path: string, { status, body }: Answer<unknown>): boolean {
    const text = JSON.stringify(body);
    const asksRegistry = text.includes('authorization_unavailable') || path.startsWith('/internal/authz/');
    if (status === 503 && this.sendsAgain.has(path)) return true;
    if (status === 503 && asksRegistry) return this.registryAnswers();
    return status === 429 && text.includes('Too many passwords');
  }

  private async exchange<T>(method: string, path: string, options: CallOptions): Promise<Answer<T>> {
    const { body, headers } = options;
    const sent = options.bytes ?? (body === undefined ? undefined : JSON.stringify(body));
    const response = await fetch(this.url + path, {
      method,
      redirect: 'manual',
      headers: {
        ...(await this.credential(method, path)),
        ...(this.keepsConnections ? {} : { connection: 'close' }),
        ...(sent === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(sent === undefined ? {} : { body: sent }),
    });
    const type = response.headers.get('content-type') ?? '';
    // It would never be read to its end: see `listen`.
    const lasts = type.startsWith('text/event-stream');
    if (lasts) await response.body?.cancel();
    const text = lasts ? '' : await response.text();
    const json = type.includes('json') && text !== '';
    return {
      status: response.status,
      headers: response.headers,
      body: (json ? JSON.parse(text) : text) as T,
    };
  }
}
