import fc from 'fast-check';
import { createClient, type Client, type ClientSettings, type FailedAttempt, ProblemError } from './index.js';
import { cut, HostileServer, ok, problem, raw, silence } from './hostile-server.fixture.js';
import { DEFAULTS, waitBeforeNext } from './retries.js';

let server: HostileServer;
let elsewhere: HostileServer;
beforeAll(async () => {
  server = await HostileServer.start();
  elsewhere = await HostileServer.start();
});
afterAll(async () => {
  await server.stop();
  await elsewhere.stop();
});

const ID = '019a6f0e-2b1c-7c3d-9e4f-5a6b7c8d9e0f';
const SURVIVOR = '019a6f0e-2b1c-7c3d-9e4f-000000000000';
const QUICK = { firstWaitMs: 1, longestWaitMs: 1 };

const client = (settings: Partial<ClientSettings> = {}): Client =>
  createClient({ baseUrl: server.url, credentials: 'cpk_live_test', retry: QUICK, ...settings });
const contacts = (of: Client, signal?: AbortSignal) => of.GET('/v1/core/contacts', { signal });
const refused = (status: number, headers: Record<string, string>, code = 'rate_limited') =>
  new ProblemError(
    { method: 'GET', path: '/x' },
    { status, headers: new Headers(headers), text: JSON.stringify({ code }) },
    Date.parse('2026-11-21T09:30:00Z'),
  );
const wait = (error: ProblemError, made: { attempts: number; elapsedMs: number }, random: number) =>
  waitBeforeNext(error, 'harmless', made, DEFAULTS, random);

describe('the wait before the next attempt', () => {
  it('is anywhere below a bound that doubles, and never begins an attempt too late', () => {
    const attempts = fc.integer({ min: 1, max: DEFAULTS.attempts - 1 });
    const elapsed = fc.integer({ min: 0, max: DEFAULTS.withinMs });
    const random = fc.double({ min: 0, max: 1, noNaN: true });
    fc.assert(
      fc.property(attempts, elapsed, random, (made, elapsedMs, factor) => {
        const ms = wait(refused(503, {}), { attempts: made, elapsedMs }, factor);
        const bound = DEFAULTS.firstWaitMs * 2 ** (made - 1);
        if (ms === undefined) expect(elapsedMs + factor * bound).toBeGreaterThan(DEFAULTS.withinMs);
        else expect(ms).toBeCloseTo(factor * bound, 6);
      }),
    );
  });

  it.each([
    ['7', 7_000],
    ['0', 0],
    ['Sat, 21 Nov 2026 09:30:09 GMT', 9_000],
    ['Sat, 21 Nov 2026 09:00:00 GMT', 0],
    ['soon', 0],
    ['-5', 0],
  ])('adds the jitter to what `Retry-After: %s` asks for', (header, asked) => {
    const ms = wait(refused(429, { 'Retry-After': header }), { attempts: 1, elapsedMs: 0 }, 0.5);
    expect(ms).toBe(asked + 0.5 * DEFAULTS.firstWaitMs);
  });

  it.each([
    ['1', 1, 1_000],
    ['1', 4, DEFAULTS.firstWaitMs * 8],
    ['0', 1, DEFAULTS.firstWaitMs],
  ])(
    'after overloaded with `Retry-After: %s`, attempt %i, is spread over %i ms',
    (header, attempts, over) => {
      const crowded = refused(503, { 'Retry-After': header }, 'overloaded');
      const ms = [0, 0.5, 1].map((random) => wait(crowded, { attempts, elapsedMs: 0 }, random));
      const asked = Number(header) * 1_000;
      expect(ms).toEqual([asked, asked + over / 2, asked + over]);
    },
  );

  it('is not begun when `Retry-After` is longer than the time that is left', () => {
    const hour = refused(503, { 'Retry-After': '3600' });
    expect(wait(hour, { attempts: 1, elapsedMs: 0 }, 0)).toBeUndefined();
    expect(hour.retryAfter).toBe(3600);
  });

  it.each([400, 401, 403, 404, 409, 412, 422, 500, 501])('is not begun after %i', (status) => {
    expect(wait(refused(status, {}, 'other'), { attempts: 1, elapsedMs: 0 }, 0)).toBeUndefined();
  });
});

describe('attempts', () => {
  it('are told one by one, and come to an end', async () => {
    server.answers(
      problem(429, 'rate_limited', { 'Retry-After': '0' }),
      problem(503, 'shutting_down'),
      cut,
      raw(502, 'text/html', '<h1>Bad gateway</h1>'),
    );
    const told: [string, FailedAttempt][] = [];
    const retry = { attempts: 4, firstWaitMs: 2, longestWaitMs: 8 };
    const call = contacts(
      client({ retry, random: () => 0.5, onProblem: (error, attempt) => told.push([error.name, attempt]) }),
    );
    await expect(call).rejects.toMatchObject({ status: 502, code: 'http_502' });
    const name = { method: 'GET', path: '/v1/core/contacts' };
    expect(told).toEqual([
      ['ProblemError', { ...name, attempt: 1, retryInMs: 1 }],
      ['ProblemError', { ...name, attempt: 2, retryInMs: 2 }],
      ['NetworkError', { ...name, attempt: 3, retryInMs: 4 }],
      ['ProblemError', { ...name, attempt: 4, retryInMs: undefined }],
    ]);
  });

  it('end at once when the caller gives up during a wait', async () => {
    server.answers(problem(503, 'dependency_unavailable', { 'Retry-After': '50' }));
    const giveUp = new AbortController();
    const call = contacts(client({ onProblem: () => giveUp.abort(new Error('left')) }), giveUp.signal);
    await expect(call).rejects.toThrow('left');
    expect(server.arrived).toHaveLength(1);
  });

  it('end with what the listener throws', async () => {
    server.answers(problem(503, 'dependency_unavailable'));
    const onProblem = (): void => {
      throw new Error('enough');
    };
    await expect(contacts(client({ onProblem }))).rejects.toThrow('enough');
    expect(server.arrived).toHaveLength(1);
  });

  it('end at once when the caller gives up during a request', async () => {
    const giveUp = new AbortController();
    server.answers((response, arrived) => {
      silence(response, arrived);
      giveUp.abort(new Error('left'));
    });
    await expect(contacts(client(), giveUp.signal)).rejects.toThrow('left');
    expect(server.arrived).toHaveLength(1);
  });

  it('do not begin for a caller who has given up before', async () => {
    server.answers(ok({}));
    await expect(contacts(client(), AbortSignal.abort(new Error('left')))).rejects.toThrow('left');
    expect(server.arrived).toEqual([]);
  });
});

describe('credentials', () => {
  const tokens = () => server.arrived.map(({ headers }) => headers.authorization);

  it('are asked for before every request', async () => {
    let asked = 0;
    server.answers(problem(503, 'dependency_unavailable'), ok({}));
    await contacts(client({ credentials: () => `token-${String((asked += 1))}` }));
    expect(tokens()).toEqual(['Bearer token-1', 'Bearer token-2']);
  });

  it.each(['token_expired', 'invalid_token'])('are renewed once after %s', async (code) => {
    server.answers(problem(401, code), ok({}));
    await contacts(client({ credentials: async ({ renew }) => (renew ? 'new' : 'old') }));
    expect(tokens()).toEqual(['Bearer old', 'Bearer new']);
    server.answers(problem(401, code));
    const call = contacts(client({ credentials: () => 'old' }));
    await expect(call).rejects.toMatchObject({ status: 401, code });
    expect(server.arrived).toHaveLength(2);
  });

  it.each([
    ['a key', 'cpk_live_test', 'invalid_token'],
    ['a missing one', () => undefined, 'missing_credentials'],
  ])('that are %s are not renewed', async (_, credentials, code) => {
    server.answers(problem(401, code));
    await expect(contacts(client({ credentials }))).rejects.toMatchObject({ code });
    expect(server.arrived).toHaveLength(1);
  });

  it('are renewed once for all the calls that one expiry refuses', async () => {
    let renewals = 0;
    let token = 'old';
    server.answers((response, arrived) => {
      const isOld = arrived.headers.authorization === 'Bearer old';
      (isOld ? problem(401, 'token_expired') : ok({}))(response, arrived);
    });
    const credentials = async ({ renew }: { renew: boolean }): Promise<string> => {
      if (!renew) return token;
      renewals += 1;
      await new Promise((resolve) => setImmediate(resolve));
      return (token = 'new');
    };
    const shared = client({ credentials });
    await Promise.all(Array.from({ length: 20 }, () => contacts(shared)));
    expect(renewals).toBe(1);
  });

  it('that cannot be renewed end the call with the reason', async () => {
    server.answers(problem(401, 'token_expired'));
    const credentials = ({ renew }: { renew: boolean }): string => {
      if (renew) throw new Error('signed out');
      return 'old';
    };
    await expect(contacts(client({ credentials }))).rejects.toThrow('signed out');
  });
});

describe('a merged contact', () => {
  const moved = (location: string) => raw(307, 'text/plain', '', { Location: location });
  const read = () =>
    client().GET('/v1/crm/contacts/{id}/timeline', { params: { path: { id: ID }, query: { limit: 1 } } });

  it('is followed with the credential, and the answer says to whom', async () => {
    const at = `/v1/crm/contacts/${SURVIVOR}/timeline?limit=1`;
    server.answers(moved(at), ok({ data: [] }));
    expect(await read()).toMatchObject({ status: 200, mergedInto: SURVIVOR });
    expect(server.arrived.map(({ path, headers }) => [path, headers.authorization])).toEqual([
      [`/v1/crm/contacts/${ID}/timeline?limit=1`, 'Bearer cpk_live_test'],
      [at, 'Bearer cpk_live_test'],
    ]);
  });

  it('is never followed to another origin with the credential, nor is what that says an answer', async () => {
    elsewhere.answers(ok({ data: [] }));
    server.answers(moved(`${elsewhere.url}/v1/crm/contacts/${SURVIVOR}/timeline`));
    await expect(read()).rejects.toMatchObject({ name: 'NetworkError', fault: 'redirected' });
    expect([server.arrived.length, elsewhere.arrived.length]).toEqual([1, 1]);
    expect(elsewhere.arrived[0]?.headers.authorization).toBeUndefined();
  });
});
