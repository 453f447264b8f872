/** An answer, its JSON parsed. */
export interface Answer<T = Record<string, never>> {
  status: number;
  headers: Headers;
  // What a test looks into is up to the test.
  body: T;
}

/** What a call sends besides its path. */
export interface CallOptions {
  body?: unknown;
  headers?: Record<string, string>;
}

/** A client with one credential, as a test speaks to a service. */
export class Caller {
  constructor(
    private readonly url: string,
    private readonly key?: string,
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

  /** Any method; a redirect is an answer like another. */
  async call<T = Record<string, never>>(
    method: string,
    path: string,
    options: CallOptions = {},
  ): Promise<Answer<T>> {
    const { body, headers } = options;
    const response = await fetch(this.url + path, {
      method,
      redirect: 'manual',
      headers: {
        ...(this.key === undefined ? {} : { authorization: `Bearer ${this.key}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const json = response.headers.get('content-type')?.includes('json') && text !== '';
    return {
      status: response.status,
      headers: response.headers,
      body: (json ? JSON.parse(text) : text) as T,
    };
  }
}
