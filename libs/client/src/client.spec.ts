import { createClient, type Client, type ClientSettings, NetworkError, ProblemError } from './index.js';
import { cut, halt, HostileServer, ok, problem, raw, silence } from './hostile-server.fixture.js';

const ID = '019a6f0e-2b1c-7c3d-9e4f-5a6b7c8d9e0f';
const NOTE = { body: 'Called back', contact_id: ID };
const QUICK = { firstWaitMs: 1, longestWaitMs: 1 };

let server: HostileServer;
beforeAll(async () => {
  server = await HostileServer.start();
});
afterAll(() => server.stop());

const client = (settings: Partial<ClientSettings> = {}): Client =>
  createClient({ baseUrl: server.url, credentials: 'cpk_live_test', retry: QUICK, ...settings });
const contact = (of = client()): Promise<unknown> =>
  of.GET('/v1/core/contacts/{id}', { params: { path: { id: ID } } });
const failure = async <T>(call: Promise<T>): Promise<unknown> =>
  call.then(
    () => undefined,
    (error: unknown) => error,
  );
const keys = (): unknown[] => server.arrived.map(({ headers }) => headers['idempotency-key']);

describe('an answer', () => {
  it('has the parsed body, its etag, its correlation id and unknown fields', async () => {
    server.answers(ok({ id: ID, brand_new: 1 }, { ETag: '"3"', 'X-Correlation-Id': 'c-1' }));
    const answer = await client().GET('/v1/core/contacts/{id}', { params: { path: { id: ID } } });
    expect(answer).toMatchObject({ status: 200, etag: '"3"', correlationId: 'c-1', replayed: false });
    expect(answer.data).toEqual({ id: ID, brand_new: 1 });
    expect(answer.mergedInto).toBeUndefined();
    expect(server.arrived[0]).toMatchObject({ method: 'GET', path: `/v1/core/contacts/${ID}` });
    expect(server.arrived[0]?.headers.authorization).toBe('Bearer cpk_live_test');
  });

  it('has no data where there is no body', async () => {
    server.answers((response) => response.writeHead(204).end());
    const { data, status } = await client().DELETE('/v1/core/contacts/{id}', {
      params: { path: { id: ID } },
    });
    expect([data, status]).toEqual([undefined, 204]);
  });

  it('tells that it was kept from an earlier call', async () => {
    server.answers(ok({ id: ID }, { 'Idempotent-Replay': 'true' }, 201));
    expect((await client().POST('/v1/crm/notes', { body: NOTE })).replayed).toBe(true);
  });
});

describe('what is sent', () => {
  it('writes lists with commas, and encodes a comma within a value twice', async () => {
    server.answers(ok({ data: [], page: { limit: 50, next_cursor: null } }));
    const query = { 'last_name[in]': ['Rojas, Díaz', '100%', 'b'], limit: 5, q: undefined };
    await client().GET('/v1/core/contacts', { params: { query } });
    const sent = new URL(server.arrived[0]?.path ?? '', server.url);
    expect(Object.fromEntries(sent.searchParams)).toEqual({
      'last_name[in]': 'Rojas%2C Díaz,100%25,b',
      limit: '5',
    });
  });

  it.each(['', '.', '..', undefined as unknown as string])(
    'refuses the id %j before it is sent',
    async (id) => {
      server.answers(ok({}));
      const call = client().DELETE('/v1/core/contacts/{id}/purge', { params: { path: { id } } });
      await expect(call).rejects.toThrow(TypeError);
      expect(server.arrived).toEqual([]);
    },
  );

  it('keeps an id that is none within its segment', async () => {
    server.answers(ok({}));
    await client().GET('/v1/core/contacts/{id}', { params: { path: { id: '../x?y#z' } } });
    expect(server.arrived[0]?.path).toBe('/v1/core/contacts/..%2Fx%3Fy%23z');
  });

  it('sends a body that is text already as it is', async () => {
    server.answers(ok({ accepted: 1, rejected: 0, results: [] }, {}, 202));
    const bodyText = '{"events":[{"properties":{"n":12345678901234567890}}]}';
    await client().POST('/v1/core/batch', { bodyText });
    expect(server.arrived[0]).toMatchObject({ body: bodyText });
    expect(server.arrived[0]?.headers['content-type']).toBe('application/json');
  });

  it('names the version that a change is based on', async () => {
    server.answers(ok({}));
    const path = { id: ID };
    await client().PATCH('/v1/core/contacts/{id}', { params: { path }, body: {}, ifMatch: '"3"' });
    expect(server.arrived[0]?.headers['if-match']).toBe('"3"');
  });
});

describe('a refusal', () => {
  it('is thrown with all that the problem says', async () => {
    const errors = [{ pointer: '/email', code: 'invalid_format', detail: 'No address.' }];
    server.answers(
      problem(400, 'validation_failed', { 'Retry-After': '7' }, { errors, correlation_id: 'c-2' }),
    );
    const error = await failure(contact());
    expect(error).toBeInstanceOf(ProblemError);
    expect(error).toMatchObject({
      name: 'ProblemError',
      message: 'GET /v1/core/contacts/{id}: Refused: No.',
      status: 400,
      code: 'validation_failed',
      title: 'Refused',
      detail: 'No.',
      errors,
      correlationId: 'c-2',
      retryAfter: 7,
    });
    expect(server.arrived).toHaveLength(1);
  });

  it.each([
    ['an empty object', 'application/problem+json', '{}', {}],
    ['null', 'application/problem+json', 'null', null],
    ['a list', 'application/json', '[1]', [1]],
    [
      'fields of other types',
      'application/problem+json',
      '{"code":1,"errors":"x"}',
      { code: 1, errors: 'x' },
    ],
    ['half of an object', 'application/problem+json', '{"code":', '{"code":'],
    ['a page of a proxy', 'text/html', '<h1>Bad</h1>', '<h1>Bad</h1>'],
    ['nothing', 'text/plain', '', ''],
  ])('is thrown where the body is %s', async (_, type, text, body) => {
    server.answers(raw(418, type, text, { 'X-Correlation-Id': 'c-3' }));
    const error = await failure(contact());
    expect(error).toBeInstanceOf(ProblemError);
    const rest = { status: 418, code: 'http_418', title: 'HTTP 418', errors: [], correlationId: 'c-3' };
    expect(error).toMatchObject({ ...rest, detail: undefined, body });
  });

  it('never holds the credential', async () => {
    server.answers(problem(403, 'permission_denied'));
    const error = await failure(contact());
    expect(JSON.stringify([error, (error as Error).stack])).not.toContain('cpk_live_test');
  });
});

describe('a failing connection', () => {
  it.each([
    ['breaks mid-answer', cut, 'unreachable'],
    ['stays silent', silence, 'timeout'],
    ['halts mid-answer', halt, 'timeout'],
    ['answers a page of a portal', raw(200, 'text/html', '<h1>Sign in</h1>'), 'unreadable'],
    ['answers broken JSON', raw(200, 'application/json', '{"a":'), 'unreadable'],
  ] as const)('that %s is tried again, then told', async (_, behaviour, fault) => {
    server.answers(behaviour);
    // Only what is to take too long may: on a busy machine everything else does, too.
    const timeoutMs = fault === 'timeout' ? 50 : 30_000;
    const error = await failure(contact(client({ timeoutMs, retry: { ...QUICK, attempts: 3 } })));
    expect(error).toBeInstanceOf(NetworkError);
    expect(error).toMatchObject({ fault, path: '/v1/core/contacts/{id}' });
    expect(server.arrived).toHaveLength(3);
  });

  it('that nobody answers is a NetworkError', async () => {
    const nowhere = client({ baseUrl: 'http://127.0.0.1:9', retry: { attempts: 1 } });
    expect(await failure(contact(nowhere))).toMatchObject({ name: 'NetworkError', fault: 'unreachable' });
  });
});

describe('a POST', () => {
  const send = (options: { idempotencyKey?: string } = {}) =>
    client().POST('/v1/crm/notes', { body: NOTE, ...options });

  it('carries one key over all its attempts, and another call another', async () => {
    server.answers(
      cut,
      problem(503, 'dependency_unavailable'),
      problem(409, 'idempotency_in_progress'),
      ok({}),
    );
    await send();
    await send();
    const [first, ...others] = keys();
    expect(first).toMatch(/^[0-9a-f]{32}$/);
    expect(others.slice(0, 3)).toEqual([first, first, first]);
    expect(others[3]).not.toBe(first);
    expect(server.arrived.map(({ body }) => JSON.parse(body) as unknown)).toEqual(Array(5).fill(NOTE));
  });

  it('carries the key that is given', async () => {
    server.answers(ok({}));
    await send({ idempotencyKey: 'mine' });
    expect(keys()).toEqual(['mine']);
  });

  it('of an event is repeated without one: its body has its own', async () => {
    server.answers(problem(503, 'queue_unavailable'), cut, ok({ event_id: ID }, {}, 202));
    const body = {
      event: 'page_viewed',
      external_id: 'c-1',
      idempotency_key: 'k',
      occurred_at: '2026-11-21T09:30:00Z',
    };
    await client().POST('/v1/core/track', { body });
    expect(keys()).toEqual([undefined, undefined, undefined]);
  });

  it('that takes no key is not repeated when it may have been done', async () => {
    server.answers(cut);
    const call = client().POST('/v1/identity/password-resets/confirm', {
      body: { token: 't', password: 'p' },
    });
    expect(await failure(call)).toBeInstanceOf(NetworkError);
    expect(server.arrived).toHaveLength(1);
  });
});

describe('a PATCH', () => {
  const change = (ifMatch?: string) =>
    client().PATCH('/v1/core/contacts/{id}', { params: { path: { id: ID } }, body: {}, ifMatch });

  it.each([
    ['rate_limited', 429],
    ['authorization_unavailable', 503],
    ['shutting_down', 503],
    ['overloaded', 503],
  ])('is repeated after %s: it was not done', async (code, status) => {
    server.answers(problem(status, code), ok({}));
    await change();
    expect(server.arrived).toHaveLength(2);
  });

  it.each([
    ['a broken connection', cut],
    ['a time-out further on', problem(504, 'upstream_timeout')],
    ['a module that may have done it', problem(503, 'dependency_unavailable')],
  ])('is not repeated after %s', async (_, behaviour) => {
    server.answers(behaviour);
    expect(await failure(change())).toBeInstanceOf(Error);
    expect(server.arrived).toHaveLength(1);
  });

  it('is repeated after any of them when it names the version that it changes', async () => {
    server.answers(cut, problem(504, 'upstream_timeout'), ok({}));
    await change('"1"');
    expect(server.arrived).toHaveLength(3);
  });
});

describe('a redirect', () => {
  let elsewhere: HostileServer;
  beforeAll(async () => {
    elsewhere = await HostileServer.start();
  });
  afterAll(() => elsewhere.stop());
  beforeEach(() => elsewhere.answers(ok({ id: ID })));

  const to = (address: string, status: number) => raw(status, 'text/plain', '', { Location: address });
  const path = { id: ID };
  const login = { token: 't', password: 'the password' };
  const writes: [string, (of: Client) => Promise<unknown>][] = [
    ['POST', (of) => of.POST('/v1/crm/notes', { body: NOTE })],
    ['POST without a key', (of) => of.POST('/v1/identity/password-resets/confirm', { body: login })],
    ['PATCH', (of) => of.PATCH('/v1/core/contacts/{id}', { params: { path }, body: {}, ifMatch: '"1"' })],
    ['DELETE', (of) => of.DELETE('/v1/core/contacts/{id}', { params: { path } })],
  ];
  const cases = writes.flatMap(([name, call]) =>
    [301, 302, 303, 307, 308].map((status) => [status, name, call] as const),
  );

  it.each(cases)('%i of a %s is not followed, nor is it tried again', async (status, _name, call) => {
    for (const address of [`${elsewhere.url}/v1/other`, '/v1/other']) {
      server.answers(to(address, status), ok({ id: ID }));
      const error = await failure(call(client()));
      expect(error).toBeInstanceOf(NetworkError);
      expect(error).toMatchObject({ fault: 'redirected' });
      expect([server.arrived.length, elsewhere.arrived.length]).toEqual([1, 0]);
    }
  });
});

describe('pages and items', () => {
  const page = (ids: string[], next: string | null) =>
    ok({ data: ids.map((id) => ({ id })), page: { limit: 2, next_cursor: next } });

  it('walk to the end, the same query on every page', async () => {
    server.answers(page(['a', 'b'], 'two'), problem(429, 'rate_limited'), page(['c'], null));
    const ids: string[] = [];
    const query = { limit: 2, country: 'CL' };
    for await (const { id } of client().items('/v1/core/contacts', { params: { query } })) ids.push(id);
    expect(ids).toEqual(['a', 'b', 'c']);
    expect(server.arrived.map(({ path }) => path.split('?')[1])).toEqual([
      'limit=2&country=CL',
      'limit=2&country=CL&cursor=two',
      'limit=2&country=CL&cursor=two',
    ]);
  });

  it('ask for nothing that is not wanted', async () => {
    server.answers(page(['a'], 'two'));
    for await (const { data } of client().pages('/v1/core/contacts')) {
      expect(data).toHaveLength(1);
      break;
    }
    expect(server.arrived).toHaveLength(1);
  });

  it('end where a page leads to itself', async () => {
    server.answers(page(['a'], 'two'));
    const walk = async () => {
      for await (const each of client().items('/v1/core/contacts')) expect(each.id).toBe('a');
    };
    await expect(walk()).rejects.toThrow('the page after this one is this one');
    expect(server.arrived).toHaveLength(2);
  });
});
