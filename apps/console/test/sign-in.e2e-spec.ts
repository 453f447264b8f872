import { eventually } from '@customer-platform/testing';
import { consoleBench, DESK_AND_PHONE } from './console.fixture.js';

const bench = consoleBench();

describe('who signs in to the Console', () => {
  it('is on the page that was asked for, again after a reload, and nothing is left in storage', async () => {
    const visitor = await bench.signedIn(bench.owner);
    const { page, complaints } = visitor;
    await page.goto(`${bench.platform.url}/console/o/${bench.tenant.slug}/contacts?q=kept`);
    await eventually(async () => expect(await page.getByRole('searchbox').inputValue()).toBe('kept'));
    expect(page.url()).toContain('q=kept');
    const stored = await page.evaluate(() => ({
      local: localStorage.length,
      keys: Object.keys(sessionStorage),
      longWords: Object.values(sessionStorage).flatMap(
        (value: string) => value.match(/[\w.~+/-]{12,}/g) ?? [],
      ),
    }));
    expect(stored).toEqual({ local: 0, keys: ['tsr-scroll-restoration-v1_3'], longWords: [] });
    const cookies = await page.context().cookies();
    expect(cookies.filter(({ httpOnly }) => !httpOnly)).toEqual([]);
    expect(complaints).toEqual([]);
  });

  it.each(DESK_AND_PHONE)('finds nothing to stumble over at $width px, $scheme, $locale', async (eyes) => {
    const visitor = await bench.newOwner(eyes);
    await visitor.expectAccessible();
    const words = eyes.locale === 'en' ? 'Needs attention' : 'Requiere atención';
    await visitor.page.getByRole('heading', { name: words }).waitFor();
  });

  it('signs out in every tab, and the page behind the back button shows nothing', async () => {
    const visitor = await bench.signedIn(bench.owner);
    const other = await visitor.page.context().newPage();
    await other.goto(`${bench.platform.url}/console/`);
    await other.getByRole('heading', { level: 1, name: bench.tenant.slug }).waitFor();
    await visitor.page.getByRole('button', { name: bench.tenant.slug }).click();
    await visitor.page.getByRole('menuitem', { name: 'Cerrar sesión' }).click();
    await visitor.page.waitForURL(/\/oauth\/logout/);
    await other.getByRole('heading', { name: 'Cerraste la sesión' }).waitFor();
    await visitor.page.locator('button').first().click();
    await visitor.page.waitForURL(/\/oauth\/interactions\//);
    await visitor.page.goBack({ waitUntil: 'commit' });
    await visitor.page.waitForLoadState();
    expect(await visitor.page.getByText(bench.tenant.slug).count()).toBe(0);
  });

  it('never sees one organization in another after a switch', async () => {
    const second = await bench.platform.tenant();
    const person = await bench.staff(second, 'owner');
    await bench.join(bench.tenant, person, 'analyst');
    const visitor = await bench.visitor();
    const { page } = visitor;
    await visitor.signIn(person, second.slug);
    await page.goto(`${bench.platform.url}/console/o/${bench.tenant.slug}`);
    await visitor.isAt(bench.tenant.slug);
    await page.getByRole('button', { name: bench.tenant.slug }).click();
    await page.getByRole('menuitem', { name: second.slug }).click();
    await visitor.isAt(second.slug);
    expect(page.url()).toContain(`/o/${second.slug}`);
    expect(await page.getByText(bench.tenant.slug, { exact: true }).count()).toBe(0);
  });

  it('finds all tabs of two organizations where they were when the browser comes back after a restart', async () => {
    const second = await bench.platform.tenant();
    const person = await bench.staff(second, 'owner');
    await bench.join(bench.tenant, person, 'owner');
    const before = await bench.visitor();
    await before.signIn(person, second.slug);
    const cookies = await before.page.context().cookies();
    await before.page.context().close();
    const visitor = await bench.visitor();
    await visitor.page.context().addCookies(cookies);
    const addresses = [second, bench.tenant].flatMap(({ slug }) =>
      ['contacts?q=somebody', 'segments', ''].map((path) => `/console/o/${slug}/${path}`),
    );
    const pages = await Promise.all(addresses.map(() => visitor.page.context().newPage()));
    await Promise.all(
      pages.map((page, at) =>
        page.goto(`${bench.platform.url}${addresses[at] ?? ''}`, { waitUntil: 'commit' }),
      ),
    );
    for (const [at, page] of pages.entries()) {
      const [, slug = ''] = /\/o\/([^/]+)/.exec(addresses[at] ?? '') ?? [];
      await page.getByRole('button', { name: slug }).waitFor();
      const { pathname, search } = new URL(page.url());
      expect(`${pathname}${search}`.replace(/\/$/, '')).toBe(addresses[at]?.replace(/\/$/, ''));
    }
  });

  it('says that a session has ended, keeps the page, and goes on after signing in again', async () => {
    const person = await bench.staff(bench.tenant, 'owner');
    const visitor = await bench.signedIn(person);
    const { page } = visitor;
    const [user] = await bench.platform.query<{ id: string }>(
      'identity',
      'SELECT id FROM users WHERE email = $1',
      [person.email],
    );
    const sessions = await bench.tenant.admin.get<{ data: { id: string }[] }>(
      `/v1/identity/sessions?user_id=${user?.id ?? ''}&limit=200`,
    );
    for (const { id } of sessions.body.data) await bench.tenant.admin.delete(`/v1/identity/sessions/${id}`);
    await page.context().clearCookies();
    await page.evaluate(() => (document.title = 'kept'));
    const ended = page.getByRole('heading', { name: 'Tu sesión terminó' });
    await eventually(() => ended.waitFor());
    await visitor.expectNoEscape();
    const opened = page.waitForEvent('popup');
    await page.getByRole('button', { name: 'Iniciar sesión' }).click();
    const popup = await opened;
    await popup.waitForURL(/\/oauth\/interactions\//);
    const password = popup.locator('input[type=password]');
    const email = popup.getByRole('textbox').first();
    await password.or(email).first().waitFor();
    if (!(await password.isVisible())) {
      await email.fill(person.email);
      await popup.getByRole('button').first().click();
    }
    await password.fill(person.password);
    await popup.locator('button').first().click();
    await ended.waitFor({ state: 'detached' });
    expect(await page.title()).toBe('kept');
    await visitor.isAt(bench.tenant.slug);
  });
});

describe('who has a page open while a newer release comes', () => {
  /** Answers the file of the page as a server that has only the other release's. */
  const GONE = { status: 404, contentType: 'application/problem+json', body: '{}' };
  const DID_NOT_COME = /^TypeError: A file of the Console did not come: .*(segments-page|around-pages)-/;

  it('gets it anew at the address that was asked for, once, and is told where that does not help', async () => {
    const visitor = await bench.signedIn(bench.owner);
    const { page } = visitor;
    let loads = 0;
    page.on('domcontentloaded', () => (loads += 1));
    await page.route(/\/assets\/segments-page-/, (route) => route.fulfill(GONE));
    await page.getByRole('link', { name: 'Segmentos' }).click();
    await page.getByText('No se pudo cargar una parte de la Consola').waitFor();
    expect([loads, new URL(page.url()).pathname]).toEqual([1, `/console/o/${bench.tenant.slug}/segments`]);
    await page.unroute(/\/assets\/segments-page-/);
    await page.getByRole('button', { name: 'Recargar' }).click();
    await visitor.isAt('Segmentos');
    expect(loads).toBe(2);
    visitor.expectProvoked(DID_NOT_COME);
  });

  it('keeps the page that is there without a network, and goes on when it is back', async () => {
    const visitor = await bench.signedIn(bench.owner);
    const { page } = visitor;
    let loads = 0;
    page.on('domcontentloaded', () => (loads += 1));
    await page.context().setOffline(true);
    await page.getByRole('link', { name: 'Segmentos' }).click();
    await page.getByText('No se pudo cargar una parte de la Consola').waitFor();
    await page.getByRole('button', { name: 'Recargar' }).click();
    await page.getByText('No se puede acceder desde aquí').waitFor();
    await page.getByRole('link', { name: 'Inicio' }).click();
    await visitor.isAt(bench.tenant.slug);
    expect(loads).toBe(0);
    await page.context().setOffline(false);
    await page.getByRole('link', { name: 'Segmentos' }).click();
    await visitor.isAt('Segmentos');
    visitor.expectProvoked(DID_NOT_COME);
  });
});

describe('a part that comes later, while there is no network', () => {
  it('comes once there is one: the search that was asked for, and what is around the page', async () => {
    const visitor = await bench.signedIn(bench.owner);
    const { page } = visitor;
    const asked: string[] = [];
    // Whatever the page before asked for.
    page.on('domcontentloaded', () => asked.splice(0));
    page.on('request', (request) => {
      const [, name] = /\/assets\/(around-pages|command-palette)-/.exec(request.url()) ?? [];
      if (name !== undefined) asked.push(name);
    });
    await page.addInitScript(() => {
      Object.defineProperty(navigator, 'onLine', { get: () => 'isOnline' in window });
    });
    await visitor.open('contacts');
    await page.keyboard.press('Control+k');
    await page.getByText('No tienes conexión.').waitFor();
    await visitor.expectAccessible();
    expect(asked).toEqual([]);
    await page.evaluate(() => {
      Object.assign(window, { isOnline: true });
      window.dispatchEvent(new Event('online'));
    });
    await page.getByRole('combobox', { name: 'Buscar' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('list', { name: 'Páginas de esta sección' }).waitFor();
    expect(asked.sort()).toEqual(['around-pages', 'command-palette']);
  });
});

describe('a page that waits for the platform', () => {
  it('shows at once that it loads, and nothing of it stays or moves', async () => {
    const visitor = await bench.signedIn(bench.owner);
    const { page } = visitor;
    const held = Promise.withResolvers<void>();
    await page.route('**/console/config.json', async (route) => {
      await held.promise;
      await route.continue();
    });
    await page.reload({ waitUntil: 'load' });
    const waiting = page.getByRole('status').filter({ hasText: 'Cargando' });
    await waiting.waitFor();
    held.resolve();
    await visitor.isAt(bench.tenant.slug);
    expect(await waiting.isVisible()).toBe(false);
  });
});
