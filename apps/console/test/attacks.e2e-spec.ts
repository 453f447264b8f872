import { randomUUID } from 'node:crypto';
import { CONSOLE_CLIENT_ID, CONSOLE_PATHS } from '@customer-platform/config';
import { eventually, expectStatus, type Page } from '@customer-platform/testing';
import { hostileMail, nameAllToDoHarm, Stranger } from './attacks.fixture.js';
import { consoleBench } from './console.fixture.js';
import { PREVIEW_REFUSES, type Visitor } from './visitor.fixture.js';

const ERROR_PAGE = 'chrome-error://chromewebdata/';

const bench = consoleBench();
let stranger: Stranger;

beforeAll(async () => {
  stranger = await Stranger.start();
});
afterAll(() => stranger.end());

const at = (path: string): string => `${bench.platform.url}${path}`;

/** Where a sign-in to the Console begins. */
function authorizeUrl(parameters: Record<string, string> = {}): string {
  const query = new URLSearchParams({
    client_id: CONSOLE_CLIENT_ID,
    response_type: 'code',
    redirect_uri: at(CONSOLE_PATHS.callback),
    scope: 'openid profile email offline_access organization',
    state: randomUUID(),
    code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    code_challenge_method: 'S256',
    organization: bench.tenant.slug,
    ...parameters,
  });
  return at(`/oauth/authorize?${query.toString()}`);
}

describe('a page of another site', () => {
  it('frames nothing of the Console: the browser shows that it was refused', async () => {
    const visitor = await bench.ownerBackAt('');
    const silently = { prompt: 'none', redirect_uri: at(CONSOLE_PATHS.silent) };
    const page = await stranger.open(visitor.page);
    for (const path of [
      at(CONSOLE_PATHS.home),
      at(`/console/o/${bench.tenant.slug}/contacts`),
      at(`${CONSOLE_PATHS.silent}?code=a&state=b`),
      at(CONSOLE_PATHS.mailPreview),
      authorizeUrl(),
      authorizeUrl(silently),
      at('/oauth/logout'),
    ]) {
      await page.evaluate(
        (src) =>
          new Promise((resolve) => {
            const frame = document.createElement('iframe');
            frame.onload = resolve;
            frame.src = src;
            document.body.replaceChildren(frame);
          }),
        path,
      );
      await eventually(() => {
        const shown = page.frames().map((frame) => frame.url());
        expect([path, shown]).toEqual([path, [`${stranger.url}/own`, ERROR_PAGE]]);
      });
    }
    expect(await page.evaluate('heard')).toEqual([]);
  });

  it('neither hears a token nor changes anything by messages to a Console that it opened', async () => {
    const visitor = await bench.ownerBackAt('');
    const page = await stranger.open(visitor.page);
    const opened = page.waitForEvent('popup');
    await page.evaluate((url) => Object.assign(window, { prey: window.open(url) }), at(CONSOLE_PATHS.home));
    const prey = await opened;
    await prey.getByRole('heading', { level: 1, name: bench.tenant.slug }).waitFor();
    // What it got of the window when that was opened leads nowhere since.
    expect(await page.evaluate('prey.closed')).toBe(true);
    expect(await prey.evaluate(() => window.opener as unknown)).toBeNull();
    const answer = `${at(CONSOLE_PATHS.silent)}?error=login_required&state=${randomUUID()}`;
    await page.evaluate((url) => {
      const message = { source: 'oidc-client', url, keepOpen: false };
      for (const target of [(window as unknown as { prey: Window }).prey, window.opener as Window | null])
        target?.postMessage(message, '*');
      new BroadcastChannel('console-session').postMessage('signed-out');
      (window as unknown as { prey: Window }).prey.location.href = 'about:blank';
    }, answer);
    await prey.getByRole('link', { name: 'Contactos', exact: true }).click();
    await prey.getByRole('heading', { level: 1, name: 'Contactos' }).waitFor();
    await visitor.page.getByRole('heading', { level: 1, name: bench.tenant.slug }).waitFor();
    // A sign-in of its own making gives its answer to nobody but the Console.
    const silent = page.waitForEvent('popup');
    const redirect_uri = at(CONSOLE_PATHS.silent);
    await page.evaluate((url) => window.open(url), authorizeUrl({ prompt: 'none', redirect_uri }));
    await eventually(() => expect(page.context().pages()).toHaveLength(3));
    await silent;
    expect(await page.evaluate('heard')).toEqual([]);
  });

  it('is not where an address of the Console leads', async () => {
    const visitor = await bench.ownerBackAt('');
    const { page } = visitor;
    const host = new URL(stranger.url).host;
    await stranger.settled();
    const paths = [
      `/console//${host}/`,
      `/console/%2F%2F${host}/`,
      `/console/%5C${host}/`,
      `/console/${stranger.url}`,
      '/console/javascript:document.title=1',
      `/console/o/${bench.tenant.slug}//${host}/`,
      `/console/callback?code=a&state=b&to=${stranger.url}`,
      `/console/?to=${stranger.url}&returnTo=${stranger.url}&redirect=//${host}`,
    ];
    for (const path of paths) {
      await page.goto(at(path));
      await visitor.settled();
      expect([path, new URL(page.url()).origin]).toEqual([path, bench.platform.url]);
    }
    // The same for who is led by the sign-in.
    const newcomer = await bench.visitor();
    for (const path of paths) {
      await newcomer.page.goto(at(path));
      await newcomer.settled();
      expect([path, new URL(newcomer.page.url()).origin]).toEqual([path, bench.platform.url]);
    }
    await newcomer.giveCredentials(bench.owner);
    await newcomer.isAt(bench.tenant.slug);
    expect(new URL(newcomer.page.url()).origin).toBe(bench.platform.url);
    expect(await stranger.settled()).toEqual([]);
    await newcomer.close();
  });

  it.each([
    ['a host of its own', 'https://evil.example/console/callback'],
    ['a host that begins alike', (url: string) => `${url}.evil.example/console/callback`],
    ['the host as user information', (url: string) => `${url}@evil.example/console/callback`],
    ['user information', (url: string) => `${url.replace('//', '//user@')}/console/callback`],
    [
      'another name of the host',
      (url: string) => `${url.replace('127.0.0.1', 'localhost')}/console/callback`,
    ],
    ['another port', () => 'http://127.0.0.1:9/console/callback'],
    ['a suffix', (url: string) => `${url}/console/callback/x`],
    ['a slash', (url: string) => `${url}/console/callback/`],
    ['a way back up', (url: string) => `${url}/console/callback/../../x`],
    ['an encoded way back up', (url: string) => `${url}/console/callback/%2e%2e/x`],
    ['an encoded letter', (url: string) => `${url}/console/%63allback`],
    ['a query', (url: string) => `${url}/console/callback?x=1`],
    ['a fragment', (url: string) => `${url}/console/callback#x`],
    ['capitals', (url: string) => `${url}/console/Callback`],
    ['no scheme', (url: string) => `${url.replace('http:', '')}/console/callback`],
    ['a backslash', (url: string) => `${url}\\@evil.example/console/callback`],
    ['a script', 'javascript:alert(1)'],
  ])('gets no code by a redirect to %s', async (_, made) => {
    const redirect_uri = typeof made === 'string' ? made : made(bench.platform.url);
    const others: Record<string, string>[] = [{}, { prompt: 'none' }, { response_type: 'none' }];
    for (const more of others) {
      const { status, headers } = await fetch(authorizeUrl({ ...more, redirect_uri }), {
        redirect: 'manual',
      });
      expect([status, headers.get('location')]).toEqual([400, null]);
    }
  });
});

describe('who has signed out', () => {
  it('leaves nothing behind the back button, in another tab, or to a reload', async () => {
    const name = `Matilde ${randomUUID()}`;
    const id = await bench.made('/v1/core/contacts', {
      first_name: name,
      external_id: name,
    });
    const visitor = await bench.signedIn(bench.owner);
    await visitor.open(`contacts/${id}`);
    const { page } = visitor;
    await visitor.isAt(name);
    const other = await page.context().newPage();
    await other.goto(page.url());
    await other.getByRole('heading', { level: 1, name }).waitFor();
    await page.getByRole('button', { name: bench.tenant.slug }).click();
    await page.getByRole('menuitem', { name: 'Cerrar sesión' }).click();
    await page.waitForURL(/\/oauth\/logout/);
    await other.getByRole('heading', { name: 'Cerraste la sesión' }).waitFor();
    expect(await other.content()).not.toContain(name);
    await page.locator('button').first().click();
    await page.waitForURL(/\/oauth\/interactions\//);
    for (const go of ['goBack', 'goBack', 'goBack', 'goBack', 'goForward'] as const) {
      await page[go]({ waitUntil: 'commit' });
      await page.getByRole('heading').first().waitFor();
      await eventually(async () => expect(await page.content()).not.toContain(name));
    }
    for (const tab of [page, other]) {
      await tab.goto(at(`/console/o/${bench.tenant.slug}/contacts/${id}`));
      await tab.waitForURL(/\/oauth\/interactions\//);
      await tab.reload();
      expect(await tab.content()).not.toContain(name);
    }
  });
});

describe('two tabs of two organizations', () => {
  it('each ask with tokens of their own one, after a renewal as well', async () => {
    const second = await bench.platform.tenant();
    const person = await bench.staff(second);
    await bench.join(bench.tenant, person, 'owner');
    const visitor = await bench.visitor();
    await visitor.signIn(person, second.slug);
    const other = await visitor.page.context().newPage();
    const tabs = [
      { page: visitor.page, of: second, seen: askedAs(visitor.page) },
      { page: other, of: bench.tenant, seen: askedAs(other) },
    ];
    for (const { page, of } of tabs) {
      const contact = { first_name: `Only ${of.slug}`, external_id: randomUUID() };
      expectStatus(await of.admin.post('/v1/core/contacts', contact), 201);
      await page.goto(at(`/console/o/${of.slug}/contacts`));
      await page.getByRole('row', { name: `Only ${of.slug}` }).waitFor();
    }
    // The platform says of the tokens so far that they are over, as often as one comes: the first renewal may fail.
    const body = JSON.stringify({ code: 'token_expired', status: 401, title: 'Token expired' });
    const expired = { status: 401, contentType: 'application/problem+json', body };
    for (const { page, seen } of tabs) {
      const over = new Set(seen.tokens);
      await page.route('**/v1/core/contacts?*', (route) =>
        over.has(tokenOf(route.request()) ?? '') ? route.fulfill(expired) : route.continue(),
      );
    }
    for (const { page, of, seen } of tabs) {
      await page.getByRole('searchbox').fill(`Only ${of.slug.slice(0, 3)}`);
      await eventually(() => expect(seen.tokens.size).toBe(2));
      await eventually(async () => expect(await page.getByRole('row', { name: 'Only' }).count()).toBe(1));
      expect([...seen.organizations]).toEqual([of.id]);
    }
  });
});

describe('whatever is named to do harm', () => {
  it('is text on every page, and breaks no policy', async () => {
    const paths = await nameAllToDoHarm(bench);
    const visitor = await bench.ownerBackAt('');
    const { page } = visitor;
    const broken: string[] = [];
    await page.exposeFunction('noteViolation', (said: string) => broken.push(said));
    await page.addInitScript(`document.addEventListener('securitypolicyviolation', (event) =>
      noteViolation([location.pathname, event.violatedDirective, event.blockedURI, event.sample].join(' ')))`);
    await page.reload();
    for (const path of paths) {
      await goWithin(visitor, `/console/o/${bench.tenant.slug}/${path}`);
      expect([path, await harmDone(page)]).toEqual([path, []]);
    }
    expect(broken).toEqual([]);
    await visitor.close();
  }, 120_000);

  it('is a mail whose styles are shown, that runs nothing, asks nothing and leads nowhere', async () => {
    const id = await bench.made('/v1/messaging/templates', {
      name: `Mail ${randomUUID()}`,
      channel: 'email',
      default_locale: 'es',
      locales: { es: { subject: 'Gracias', html: hostileMail(stranger.url) } },
    });
    const visitor = await bench.ownerBackAt(`messages/templates/${id}`);
    const { page } = visitor;
    await stranger.settled();
    const outside = page.url();
    await page.getByRole('button', { name: 'Mostrar vista previa' }).click();
    const mail = page.frameLocator('iframe').frameLocator('iframe');
    const text = mail.getByText('Gracias por tu compra');
    await text.waitFor();
    expect(await text.evaluate((element) => getComputedStyle(element).color)).toBe('rgb(1, 2, 3)');
    expect(
      await page
        .frameLocator('iframe')
        .locator('body')
        .evaluate(() => window.origin),
    ).toBe('null');
    await mail.getByRole('button', { name: 'Responder' }).click();
    for (const link of ['Plano', 'Arriba', 'Guion']) await mail.getByText(link).click();
    await text.waitFor();
    expect(await mail.locator('link, meta[http-equiv], template').count()).toBe(0);
    expect(await mail.getByText('hacked', { exact: true }).count()).toBe(0);
    expect(page.url()).toBe(outside);
    expect(page.context().pages()).toHaveLength(1);
    expect(await stranger.settled()).toEqual([]);
    visitor.expectProvoked(PREVIEW_REFUSES);
  });
});

/** Whose tokens a page asks with. */
function askedAs(page: Page): { organizations: Set<unknown>; tokens: Set<string> } {
  const seen = { organizations: new Set<unknown>(), tokens: new Set<string>() };
  page.on('request', (request) => {
    const token = tokenOf(request);
    if (token === undefined || !request.url().includes('/v1/')) return;
    const claims = Buffer.from(token.split('.')[1] ?? '', 'base64url').toString();
    seen.organizations.add((JSON.parse(claims) as { org_id?: unknown }).org_id);
    seen.tokens.add(token);
  });
  return seen;
}

function tokenOf(request: { headers(): Record<string, string> }): string | undefined {
  return /^Bearer (.+)$/.exec(request.headers()['authorization'] ?? '')?.[1];
}

/** To another page without leaving the document, and until it shows what it has. */
async function goWithin(visitor: Visitor, path: string): Promise<void> {
  const { page } = visitor;
  await page.evaluate((to) => {
    window.history.pushState(null, '', to);
    window.dispatchEvent(new PopStateEvent('popstate'));
  }, path);
  await page.getByRole('heading', { level: 1 }).waitFor();
  await visitor.settled();
}

/** What on a page is more than text: nothing, on a page that is right. */
function harmDone(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const harm = 'hacked' in window ? ['a script has run'] : [];
    for (const element of document.querySelectorAll('*')) {
      if (['IMG', 'SCRIPT', 'OBJECT', 'EMBED'].includes(element.tagName) && !document.head.contains(element))
        harm.push(element.outerHTML);
      for (const { name, value } of element.attributes)
        if (
          name.startsWith('on') ||
          (/^(href|src|action|formaction|xlink:href)$/.test(name) &&
            /^\s*(javascript|data|vbscript):/i.test(value))
        )
          harm.push(`${name}=${value}`);
    }
    return harm;
  });
}
