import { createHash, randomBytes } from 'node:crypto';
import { jest } from '@jest/globals';
import { newId } from '@customer-platform/database';
import { log, metrics } from '@customer-platform/http';
import { browserCookie } from '../pages/browser-binding.js';
import { HostileProvider } from '../sso-connections/hostile-provider.fixture.js';
import { SsoBench, type TestConnection } from '../sso-connections/sso-bench.fixture.js';

describe('GET /oauth/sso/callback/{id}', () => {
  let bench: SsoBench;
  let provider: HostileProvider;
  let connection: TestConnection;

  beforeAll(async () => {
    provider = await HostileProvider.start();
    bench = await SsoBench.start();
    connection = await bench.connection(provider.issuer, { jit: true });
  });
  afterAll(async () => {
    await bench.end();
    await provider.close();
  });
  beforeEach(() => {
    provider.behave();
    provider.claims = { sub: newId(), email: `${newId()}@${connection.domain}`, email_verified: true };
  });

  const secret = randomBytes(32).toString('base64url');
  const hash = createHash('sha256').update(secret).digest();
  const visit = async (
    search: string,
    cookie = `${browserCookie()}=${secret}`,
    path = `/oauth/sso/callback/${connection.id}`,
  ): Promise<Response> =>
    fetch(bench.identity.app.url + path + search, {
      headers: { cookie, 'accept-language': 'es' },
      redirect: 'manual',
    });

  it('leads on to the sign-in that is under way, in a browser that is known by a fresh secret', async () => {
    const url = await bench.begin(connection, hash);
    const answer = await visit(provider.authorize(url).search);
    const page = await answer.text();
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    expect(answer.headers.get('referrer-policy')).toBe('no-referrer');
    expect(page).toContain(`/oauth/interactions/interaction-${connection.id}`);
    const [cookie = ''] = answer.headers.getSetCookie();
    const [, fresh = ''] = /=([\w-]{43});/.exec(cookie) ?? [];
    expect(cookie).toMatch(/^[\w-]+=.*; HttpOnly; SameSite=Lax$/);
    expect(fresh).not.toBe(secret);
    const rows = await bench.identity.database.query<{ connection_id: string; amr: string[]; hash: Buffer }>(
      'SELECT connection_id, amr, browser_hash AS hash FROM sign_ins WHERE uid = $1',
      [`interaction-${connection.id}`],
    );
    expect(rows).toEqual([
      { connection_id: connection.id, amr: ['fed'], hash: createHash('sha256').update(fresh).digest() },
    ]);
  });

  it('says on a page that something is wrong, and not what of it', async () => {
    const back = provider.authorize(await bench.begin(connection, hash));
    const foreign = await visit(back.search, `${browserCookie()}=${randomBytes(32).toString('base64url')}`);
    expect([foreign.status, foreign.headers.getSetCookie()]).toEqual([400, []]);
    for (const search of [
      '',
      '?',
      '?state=x',
      '?state=x&state=y',
      `?state=${'x'.repeat(43)}&code=c`,
      back.search,
    ]) {
      const answer = await visit(search);
      expect([answer.status, answer.headers.get('content-type')]).toEqual([400, 'text/html; charset=utf-8']);
    }
    const twice = await (await visit(back.search, `interaction-a=a; interaction-b=b; x=y`)).text();
    expect(twice).toContain('href="/oauth/interactions/b"');
    const mixedUp = provider.authorize(await bench.begin(connection, hash));
    const elsewhere = await visit(mixedUp.search, undefined, `/oauth/sso/callback/${newId()}`);
    expect([elsewhere.status, provider.tokenRequests]).toEqual([403, []]);
    provider.sign = (claims) => Promise.resolve(provider.unsigned(claims));
    const forged = await visit(provider.authorize(await bench.begin(connection, hash)).search);
    expect(forged.status).toBe(403);
    const text = await forged.text();
    expect(text).toContain('No se aceptó');
    expect(text).not.toMatch(/answer_invalid|signature|jwt/i);
  });

  it('takes nothing at the address that all connections had in common', async () => {
    const back = provider.authorize(await bench.begin(connection, hash));
    const common = await visit(back.search, undefined, '/oauth/sso/callback');
    expect([common.status, common.headers.get('content-type')]).toEqual([400, 'text/html; charset=utf-8']);
    expect(provider.tokenRequests).toEqual([]);
    expect((await visit(back.search)).status).toBe(200);
  });

  it('tells the log why, under the reference that the page shows, and counts it', async () => {
    const told = jest.spyOn(log, 'info');
    const count = async (): Promise<number> => {
      const text = await metrics.getSingleMetricAsString('sso_refusals_total');
      return Number(/reason="unknown_request"\} (\d+)/.exec(text)?.[1] ?? 0);
    };
    const before = await count();
    const answer = await visit(`?state=${'x'.repeat(43)}`);
    expect(await answer.text()).toContain(answer.headers.get('x-correlation-id'));
    expect(told).toHaveBeenCalledWith({ reason: 'unknown_request' }, expect.any(String));
    expect(await count()).toBe(before + 1);
    told.mockRestore();
  });
});
