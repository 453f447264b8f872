import { once } from 'node:events';
import { type Stage, aGateway, raw } from './gateway.fixture.js';
import { readGatewayConfig } from './gateway.config.js';
import { PATIENCE } from './upstream.js';

let stage: Stage;
afterEach(() => stage.close());

/** A server that tells what reached it. */
const telling = (options: Parameters<typeof aGateway>[1] = {}) =>
  aGateway((request, response) => {
    response.setHeader('content-security-policy', "default-src 'none'");
    response.end(JSON.stringify({ url: request.url, headers: request.headers }));
  }, options);

const ask = async (path: string, init: RequestInit = {}) => {
  const answer = await fetch(stage.gateway.url + path, { redirect: 'manual', ...init });
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
};

describe('the Console', () => {
  it('is passed to who serves its files, with its own policy, and without the caller’s credentials', async () => {
    stage = await telling();
    const { status, headers, text } = await ask('/console/contacts?tab=a', {
      headers: { authorization: 'Bearer t', cookie: '__Host-session=s', 'if-none-match': '"a"' },
    });
    const reached = JSON.parse(text) as { url: string; headers: Record<string, string> };
    expect([status, reached.url]).toEqual([200, '/console/contacts?tab=a']);
    expect(headers.get('content-security-policy')).toBe("default-src 'none'");
    expect(reached.headers).toMatchObject({ 'if-none-match': '"a"', 'x-forwarded-host': 'platform.test' });
    expect(reached.headers).not.toHaveProperty('authorization');
    expect(reached.headers).not.toHaveProperty('cookie');
    const module = JSON.parse(
      (await ask('/oauth/userinfo', { headers: { cookie: 'a=b' } })).text,
    ) as typeof reached;
    expect(module.headers['cookie']).toBe('a=b');
  });

  it('is where the address without its slash, and a link of an older mail, lead to', async () => {
    stage = await telling();
    for (const [from, to] of [
      ['/console', '/console/'],
      ['/console?a=b', '/console/?a=b'],
      ['/invitations/accept', '/console/invitation'],
    ] as const) {
      const { status, headers } = await ask(from);
      expect([status, headers.get('location')]).toEqual([308, to]);
    }
    expect((await ask('/')).text).toContain('href="/console/"');
  });

  it.each([
    '/console/../v1/core/events',
    '/console/../internal/authz/resolve',
    '/console/%2e%2e/v1/core/events',
    '/console/..%2fv1/core/events',
    '/console/%2e/index.html',
    '/console//assets/index.js',
    '/console%2f',
    '/consolex',
    '/consolex/index.html',
    '/Console/',
    '/v1/console/',
    '/console.html',
  ])('is not reached by %s, nor is anything else', async (target) => {
    stage = await telling();
    const text = await raw(
      stage.gateway.url,
      `GET ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`,
    );
    expect(text).toMatch(/^HTTP\/1\.1 404 /);
    expect(text).toContain('"code":"route_not_found"');
  });

  it.each(['/console/\\..\\v1', '/console/%zz', '/console/<script>'])('400 for %s', async (target) => {
    stage = await telling();
    const text = await raw(
      stage.gateway.url,
      `GET ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`,
    );
    expect(text).toMatch(/^HTTP\/1\.1 400 /);
  });

  it('that is down is 503, one that hangs 504, and the API goes on', async () => {
    stage = await telling({ config: { consoleUpstream: 'http://127.0.0.1:9' } });
    const away = await ask('/console/');
    expect([away.status, away.headers.get('retry-after')]).toEqual([503, '1']);
    expect(JSON.parse(away.text)).toMatchObject({ code: 'dependency_unavailable', instance: '/console/' });
    expect((await ask('/v1/core/events')).status).toBe(200);
    await stage.close();
    stage = await aGateway(() => undefined, { patience: { ...PATIENCE, headers: 100 } });
    const asked = once(stage.upstream, 'request');
    const hangs = await ask('/console/');
    await asked;
    expect([hangs.status, JSON.parse(hangs.text)]).toMatchObject([504, { code: 'upstream_timeout' }]);
  });

  it('is not there where nobody is named who serves it', async () => {
    stage = await telling({ config: { consoleUpstream: undefined } });
    for (const path of ['/console', '/console/', '/invitations/accept'])
      expect((await ask(path)).status).toBe(404);
    expect((await ask('/')).text).not.toContain('/console/');
  });

  it('is named by a variable', async () => {
    stage = await telling();
    const url = 'http://127.0.0.1:3000';
    const modules = ['IDENTITY', 'CORE', 'CRM', 'MESSAGING', 'LOYALTY'].map((name) => [`${name}_URL`, url]);
    const env = { PLATFORM_MODE: 'local', ...Object.fromEntries(modules) } as NodeJS.ProcessEnv;
    expect(readGatewayConfig(env).consoleUpstream).toBeUndefined();
    const named = { ...env, CONSOLE_UPSTREAM_URL: 'http://console:3000/' };
    expect(readGatewayConfig(named).consoleUpstream).toBe('http://console:3000');
  });
});
