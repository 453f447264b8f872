import { setTimeout as pause } from 'node:timers/promises';

const WITHIN_MS = 15_000;
const ASKED_AGAIN_AFTER_MS = 250;

/** Calls the platform as any client does, with one key or with none. */
export class PublicApi {
  private readonly baseUrl: string;
  private readonly key: string | undefined;

  constructor(baseUrl: string, key?: string) {
    this.baseUrl = baseUrl;
    this.key = key;
  }

  /** The same without the key. */
  anonymous(): PublicApi {
    return new PublicApi(this.baseUrl);
  }

  /**
   * Whether the key is good, by a cheap read; what an old data folder's demo.json may no longer be. A platform that has
   * just started may be too busy to say: it is asked again, for a key that is good must not be replaced.
   */
  async accepted(): Promise<boolean> {
    const giveUpAt = performance.now() + WITHIN_MS;
    for (;;) {
      const { status, body } = await this.call('GET', '/v1/core/events?limit=1');
      await body?.cancel();
      const isBusy = status === 503 || status === 504 || status === 429;
      if (!isBusy || performance.now() > giveUpAt) return status === 200;
      await pause(ASKED_AGAIN_AFTER_MS);
    }
  }

  /** @throws Error with status and problem for anything but 2xx. */
  async get<T>(path: string): Promise<T> {
    return readAnswer<T>('GET', path, await this.call('GET', path));
  }

  /** @throws Error with status and problem for anything but 2xx. */
  async post<T>(path: string, body: unknown): Promise<T> {
    return readAnswer<T>('POST', path, await this.call('POST', path, body));
  }

  private call(method: string, path: string, body?: unknown): Promise<Response> {
    return fetch(this.baseUrl + path, {
      method,
      headers: {
        ...(this.key === undefined ? {} : { authorization: `Bearer ${this.key}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(WITHIN_MS),
    });
  }
}

async function readAnswer<T>(method: string, path: string, answer: Response): Promise<T> {
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path} was answered ${answer.status}: ${text}`);
  return JSON.parse(text) as T;
}
