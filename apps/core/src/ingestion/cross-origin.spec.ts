import { aTrack, CORE_PERMISSIONS, startCore, type TestCore } from '../core.fixture.js';

const ORIGIN = 'https://shop.example';
const ROUTES = ['/v1/core/track', '/v1/core/identify', '/v1/core/batch'];

let core: TestCore;
beforeAll(async () => {
  core = await startCore();
});
afterAll(() => core.close());

const allowed = (headers: Headers): unknown[] =>
  ['origin', 'credentials'].map((name) => headers.get(`access-control-allow-${name}`));
const readable = (headers: Headers): string[] =>
  (headers.get('access-control-expose-headers') ?? '').split(', ').sort();

async function preflight(path: string): Promise<{ status: number; headers: Headers }> {
  return core.app.with().call('OPTIONS', path, {
    headers: {
      origin: ORIGIN,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,content-type',
    },
  });
}

describe('pages of other origins', () => {
  it.each(ROUTES)('may ask %s with a key, and without cookies', async (path) => {
    const { status, headers } = await preflight(path);
    expect([status, ...allowed(headers)]).toEqual([204, '*', null]);
    expect(headers.get('access-control-allow-methods')).toBe('POST');
    expect(headers.get('access-control-allow-headers')).toBe('authorization, content-type');
    expect(Number(headers.get('access-control-max-age'))).toBeGreaterThan(0);
  });

  it.each(['/v1/core/contacts', '/v1/core/events', '/v1/core/members/token', '/v1/core/dead-letters'])(
    'may not ask %s',
    async (path) => {
      const { headers } = await preflight(path);
      expect(allowed(headers)).toEqual([null, null]);
    },
  );

  it('read what was accepted, and what was refused before and after the key was known', async () => {
    const { caller } = core.anOrganization();
    const from = { headers: { origin: ORIGIN } };
    const answers = [
      await caller.post('/v1/core/track', aTrack(), from.headers),
      await caller.post('/v1/core/batch', { events: [aTrack()] }, from.headers),
      await caller.post('/v1/core/batch', { events: [{}] }, from.headers),
      await core.app.with().post('/v1/core/batch', { events: [aTrack()] }, from.headers),
      await core.app.with('cpk_live_no').post('/v1/core/identify', {}, from.headers),
    ];
    expect(answers.map(({ status }) => status)).toEqual([202, 202, 400, 401, 401]);
    for (const { headers } of answers) {
      expect(allowed(headers)).toEqual(['*', null]);
      expect(readable(headers)).toEqual(['Retry-After', 'X-Correlation-Id']);
    }
  });

  it('are told when to come again', async () => {
    const { caller } = core.anOrganization(CORE_PERMISSIONS, {
      rate_limits: { key_per_second: 1, organization_per_second: 1 },
    });
    const events = Array.from({ length: 5 }, () => aTrack());
    const { headers } = await caller.post('/v1/core/batch', { events }, { origin: ORIGIN });
    expect([headers.get('access-control-allow-origin'), headers.get('retry-after')]).toEqual(['*', '1']);
    expect(readable(headers)).toContain('Retry-After');
  });

  it('read nothing else of ours, though they hold a key', async () => {
    const { caller } = core.anOrganization();
    const { status, headers } = await caller.get('/v1/core/contacts', { headers: { origin: ORIGIN } });
    expect([status, ...allowed(headers)]).toEqual([200, null, null]);
  });
});
