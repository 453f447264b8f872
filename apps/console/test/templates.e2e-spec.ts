import { randomUUID } from 'node:crypto';
import { eventually, expectStatus, type Page } from '@customer-platform/testing';
import { consoleBench, itHasNothingToStumbleOver } from './console.fixture.js';
import { MARKUP, PREVIEW_REFUSES, type Visitor } from './visitor.fixture.js';

const TEMPLATES = '/v1/messaging/templates';

const bench = consoleBench();

const section = (page: Page, title: string) =>
  page.locator('section').filter({ has: page.getByRole('heading', { name: title }) });

interface Template {
  id: string;
  name: string;
}

const aName = (what: string): string => `${what} ${randomUUID().slice(0, 8)}`;

async function made(body: object): Promise<Template> {
  const given = { name: aName('Plantilla'), channel: 'email', default_locale: 'es', ...body };
  const answer = await bench.tenant.admin.post<Template>(TEMPLATES, given);
  expectStatus(answer, 201);
  return answer.body;
}

/** A published partial, and messages that hold an earlier text of it. */
async function outdated(count: number): Promise<{ footer: Template; users: Template[] }> {
  const footer = await made({ kind: 'partial', locales: { es: { html: '<p>uno</p>' } } });
  const locales = { es: { subject: 'Hola', html: `{% render '${footer.name}' %}` } };
  const users = await Promise.all(Array.from({ length: count }, () => made({ locales })));
  const change = { locales: { es: { html: '<p>dos</p>' } } };
  expectStatus(await bench.tenant.admin.patch(`${TEMPLATES}/${footer.id}`, change), 200);
  return { footer, users };
}

async function stored(id: string): Promise<object> {
  return (await bench.tenant.admin.get<object>(`${TEMPLATES}/${id}`)).body;
}

/** Publishes the newest version of the template whose page is open. */
async function publish({ page, dialog }: Visitor, version: number): Promise<void> {
  await page.getByRole('button', { name: `Publicar la versión ${String(version)}` }).click();
  await dialog.getByRole('button', { name: 'Publicar esta versión' }).click();
  await page
    .getByRole('button', { name: `Publicar la versión ${String(version)}` })
    .waitFor({ state: 'detached' });
}

describe('templates', () => {
  it('are drafts when they are saved, and sent once somebody has seen what that changes', async () => {
    const name = aName('Aviso');
    const visitor = await bench.ownerBackAt('messages/templates/new');
    const { page, dialog } = visitor;
    await page.getByLabel('Nombre').fill(name);
    await page.getByLabel('Asunto').fill('Primero');
    await page.getByLabel('HTML', { exact: true }).fill('<p>uno</p>');
    await page.getByRole('button', { name: 'Crear plantilla' }).click();
    await visitor.isAt(name);
    await page.getByText('borrador, no se envía').first().waitFor();
    const id = /templates\/([^/?]+)/.exec(page.url())?.[1] ?? '';
    expect(await stored(id)).toMatchObject({ version: 1, published_version: null });
    await page.getByRole('button', { name: 'Publicar la versión 1' }).click();
    await dialog.getByText('esta será la primera').waitFor();
    await dialog.getByRole('button', { name: 'Publicar esta versión' }).click();
    await page.getByText('La versión 1 está publicada').first().waitFor();
    expect(await stored(id)).toMatchObject({ version: 1, published_version: 1 });

    await page.getByLabel('Asunto').fill('Segundo');
    await page.getByRole('button', { name: 'Guardar plantilla' }).click();
    await page.getByText('la versión 1 está publicada; la 2 es un borrador').first().waitFor();
    expect(await stored(id)).toMatchObject({ version: 2, published_version: 1 });
    await page.getByRole('button', { name: 'Publicar la versión 2' }).click();
    await dialog.getByText('Ahora está publicada la versión 1').waitFor();
    await dialog.getByText('-Primero').waitFor();
    await dialog.getByText('+Segundo').waitFor();
    await visitor.expectAccessible();
    await dialog.getByRole('button', { name: 'Publicar esta versión' }).click();
    await page.getByText('La versión 2 está publicada').first().waitFor();
    expect(await stored(id)).toMatchObject({ version: 2, published_version: 2 });
    expect(await page.getByRole('button', { name: /^Publicar la versión/ }).count()).toBe(0);
    await visitor.expectUnbroken();
  });

  it('are compared with what they said before, looked at by night, tested, and written as before', async () => {
    const { id } = await made({
      locales: { es: { subject: 'Primero', html: `<p>uno</p>\n<img src="x">${MARKUP}` } },
    });
    const draft = { locales: { es: { subject: 'Segundo' } }, publish: false };
    expectStatus(await bench.tenant.admin.patch(`${TEMPLATES}/${id}`, draft), 200);
    const visitor = await bench.ownerBackAt(`messages/templates/${id}`);
    const { page, dialog } = visitor;
    await page.getByText('-Primero').waitFor();
    await page.getByText('+Segundo').waitFor();
    await page.getByRole('button', { name: 'Mostrar vista previa' }).click();
    await page.getByText('Una imagen sin texto alternativo').first().waitFor();
    await page.getByLabel('Ver en modo oscuro').check();
    await page.locator('iframe[data-scheme="dark"]').waitFor();
    await page.getByRole('button', { name: 'Enviarme una prueba' }).click();
    await page.getByText('La prueba va en camino').first().waitFor();
    await page.getByRole('button', { name: 'Publicar esta versión: 2' }).click();
    await dialog.getByText('+Segundo').waitFor();
    await dialog.getByRole('button', { name: 'Publicar esta versión' }).click();
    await page.getByText('La versión 2 está publicada').first().waitFor();
    await page.getByRole('button', { name: 'Restaurar como borrador: versión 1' }).click();
    await dialog.getByRole('button', { name: 'Restaurar como borrador' }).click();
    await page.getByText('La versión 3 es un borrador').first().waitFor();
    await page.getByLabel('Asunto').and(page.locator('input[value="Primero"]')).waitFor();
    await visitor.open(`messages/templates/${id}?from=1&to=3`);
    await page.getByText('No hay diferencias.').waitFor();
    await visitor.expectAccessible();
    visitor.expectProvoked(PREVIEW_REFUSES);
  });

  it('lose a part that is cleared and a language that is removed', async () => {
    const { id, name } = await made({
      locales: {
        es: { subject: 'Hola', html: '<p>uno</p>', text: 'uno' },
        en: { subject: 'Hi', html: 'one' },
      },
    });
    const visitor = await bench.ownerBackAt(`messages/templates/${id}`);
    const { page } = visitor;
    await page.getByLabel('Texto', { exact: true }).fill('');
    await page.getByLabel('Idioma', { exact: true }).first().selectOption('en');
    await page.getByRole('button', { name: 'Quitar en' }).click();
    await page.getByRole('button', { name: 'Guardar plantilla' }).click();
    await page.getByText(`Se guardó la plantilla ${name} como versión 2`).first().waitFor();
    const { body } = await bench.tenant.admin.get<{ locales: object }>(`${TEMPLATES}/${id}`);
    expect(body.locales).toEqual({ es: { subject: 'Hola', html: '<p>uno</p>' } });
  });
});

describe('layouts and partials', () => {
  it('are written, put into a message, seen in its preview, and refused at the field that names none', async () => {
    const [footer, brand, name] = [aName(`Pie ${MARKUP}`), aName(`Marca ${MARKUP}`), aName('Bienvenida')];
    const visitor = await bench.ownerBackAt('messages/templates');
    const { page } = visitor;
    await page.getByRole('link', { name: 'Nueva plantilla' }).click();
    // The list that one comes from asks for a kind, too.
    await visitor.isAt('Nueva plantilla');
    await page.getByLabel('Tipo').selectOption('partial');
    await page.getByLabel('Nombre').fill(footer);
    await page.getByLabel('HTML', { exact: true }).fill('<p>Avenida Italia 1</p>');
    await page.getByRole('button', { name: 'Crear plantilla' }).click();
    await page.getByText('Todavía ninguna plantilla lo usa.').waitFor();
    await publish(visitor, 1);

    await visitor.open('messages/templates/new?kind=layout');
    await page.getByLabel('Nombre').fill(brand);
    await page.getByLabel('HTML', { exact: true }).fill('<h1>Tienda</h1>');
    await page.getByLabel('Insertar fragmento').selectOption({ label: `${footer} (html)` });
    await page.getByRole('button', { name: 'Insertar' }).press('Enter');
    // One writes on behind what was inserted.
    await page.locator('textarea:focus').pressSequentially('!');
    expect(await page.getByLabel('HTML', { exact: true }).inputValue()).toBe(
      `<h1>Tienda</h1>{% render '${footer}' %}!`,
    );
    await page.getByRole('button', { name: 'Crear plantilla' }).click();
    await page.getByText('A layout says once where the content goes').first().waitFor();
    await page.getByLabel('HTML', { exact: true }).press('ControlOrMeta+Home');
    await page.locator('textarea:focus').pressSequentially('{{ content }}');
    await page.getByRole('button', { name: 'Crear plantilla' }).click();
    await visitor.isAt(brand);
    await publish(visitor, 1);

    await visitor.open('messages/templates/new');
    await page.getByLabel('Nombre').fill(name);
    await page.getByLabel('Asunto').fill('Hola');
    await page.getByLabel('Diseño').selectOption({ label: `${brand} (html)` });
    await page.getByLabel('Formato').selectOption('mjml');
    await page.getByLabel('MJML', { exact: true }).fill('<mjml></mjml>');
    await page.getByRole('button', { name: 'Crear plantilla' }).click();
    await page.getByText('The layout has no part `mjml`.').first().waitFor();
    expect(await page.getByLabel('Diseño').getAttribute('aria-invalid')).toBe('true');
    await page.getByLabel('Formato').selectOption('html');
    await page.getByLabel('HTML', { exact: true }).fill('<p>Gracias</p>');
    await page.getByRole('button', { name: 'Crear plantilla' }).click();
    await visitor.isAt(name);
    await page.getByRole('button', { name: 'Mostrar vista previa' }).click();
    const mail = page.frameLocator('iframe').frameLocator('iframe');
    await mail.getByText('Gracias').waitFor();
    await mail.getByText('Tienda').waitFor();
    await mail.getByText('Avenida Italia 1').waitFor();
    await section(page, 'Contenido incluido').getByRole('link', { name: brand }).click();
    await section(page, 'Plantillas que lo usan').getByRole('link', { name }).waitFor();
    await visitor.expectUnbroken();
  });

  it('that change are put anew into what uses them: as drafts, or published, and drafts stay drafts', async () => {
    const footer = await made({ kind: 'partial', locales: { es: { html: '<p>uno</p>' } } });
    const locales = { es: { subject: 'Hola', html: `{% render '${footer.name}' %}` } };
    const first = await made({ locales });
    const second = await made({ locales });
    const draft = { locales: { es: { subject: 'Borrador' } }, publish: false };
    expectStatus(await bench.tenant.admin.patch(`${TEMPLATES}/${second.id}`, draft), 200);
    const change = { locales: { es: { html: '<p>dos</p>' } } };
    expectStatus(await bench.tenant.admin.patch(`${TEMPLATES}/${footer.id}`, change), 200);
    const visitor = await bench.ownerBackAt(`messages/templates/${first.id}`, { scheme: 'dark', width: 360 });
    const { page, dialog } = visitor;
    const preview = section(page, 'Vista previa');
    const mail = page.frameLocator('iframe').frameLocator('iframe');
    await preview.getByRole('button', { name: 'Mostrar vista previa' }).click();
    await mail.getByText('uno').waitFor();
    await page.getByLabel('Asunto').fill('Sin guardar');
    await page.getByRole('button', { name: 'Renovar' }).click();
    await dialog.getByRole('button', { name: 'Renovar' }).click();
    await page.getByText('la versión 1 está publicada; la 2 es un borrador').first().waitFor();
    // What is written is kept, and saved over what was renewed: nobody has to choose.
    await page.getByRole('button', { name: 'Guardar plantilla' }).click();
    await page.getByText('la versión 1 está publicada; la 3 es un borrador').first().waitFor();
    // What was shown is of a version that is not the newest any more.
    await preview.locator('iframe').waitFor({ state: 'detached' });
    expect(await preview.getByLabel('Versión').inputValue()).toBe('3');
    await preview.getByRole('button', { name: 'Mostrar vista previa' }).click();
    await mail.getByText('dos').waitFor();
    expect(await stored(first.id)).toMatchObject({
      locales: { es: { subject: 'Sin guardar' } },
      uses: [{ version: 2 }],
    });
    await publish(visitor, 3);

    expectStatus(
      await bench.tenant.admin.patch(`${TEMPLATES}/${footer.id}`, { locales: { es: { html: 'tres' } } }),
      200,
    );
    await visitor.open(`messages/templates/${footer.id}`);
    const users = section(page, 'Plantillas que lo usan');
    await users.getByText('con el texto de la versión 1').waitFor();
    await visitor.expectAccessible();
    await users.getByRole('button', { name: 'Renovar todas' }).click();
    await dialog.getByLabel('Publicarlas todas').check();
    await visitor.expectAccessible();
    await dialog.getByRole('button', { name: 'Renovar' }).press('Enter');
    await page.getByText('Se renovaron 2 plantillas').first().waitFor();
    await eventually(async () =>
      expect(await users.getByText('con el texto de la versión 3').count()).toBe(2),
    );
    expect(await stored(first.id)).toMatchObject({ version: 4, published_version: 4 });
    expect(await stored(second.id)).toMatchObject({ version: 3, published_version: 1 });
    expect(await users.getByRole('button', { name: 'Renovar todas' }).count()).toBe(0);
  });

  it('that cannot be renewed are named with the reason', async () => {
    const footer = await made({ kind: 'partial', locales: { es: { html: '<p>uno</p>' } } });
    const gone = await made({ kind: 'partial', locales: { es: { html: '<p>uno</p>' } } });
    const html = `{% render '${footer.name}' %}{% render '${gone.name}' %}`;
    const user = await made({ locales: { es: { subject: 'Hola', html } } });
    expectStatus(await bench.tenant.admin.call('DELETE', `${TEMPLATES}/${gone.id}`), 204);
    const change = { locales: { es: { html: '<p>dos</p>' } } };
    expectStatus(await bench.tenant.admin.patch(`${TEMPLATES}/${footer.id}`, change), 200);
    const visitor = await bench.ownerBackAt(`messages/templates/${footer.id}`);
    const { page, dialog } = visitor;
    await page.getByRole('button', { name: 'Renovar todas' }).click();
    await dialog.getByRole('button', { name: 'Renovar' }).click();
    const refused = dialog.getByRole('listitem').filter({ hasText: user.name });
    await refused.getByText(`There is no published partial “${gone.name}”`).waitFor();
    await visitor.expectAccessible();
  });

  it('are renewed no further once that is canceled, and anew when it is asked for again', async () => {
    const { footer, users } = await outdated(2);
    const visitor = await bench.ownerBackAt(`messages/templates/${footer.id}`);
    const { page, dialog } = visitor;
    // None of them gets to the platform.
    const held: (() => Promise<void>)[] = [];
    await page.route(`**${TEMPLATES}/*`, async (route) => {
      if (route.request().method() !== 'PATCH') return route.fallback();
      held.push(() => route.fulfill({ status: 412 }));
    });
    await page.getByRole('button', { name: 'Renovar todas' }).click();
    await dialog.getByLabel('Publicarlas todas').check();
    await dialog.getByRole('button', { name: 'Renovar' }).click();
    await eventually(() => expect(held).toHaveLength(1));
    const cutOff = page.waitForEvent('requestfailed', (request) => request.method() === 'PATCH');
    await dialog.getByRole('button', { name: 'Cancelar' }).click();
    // The answer comes too late.
    await held[0]?.();
    await cutOff;
    await page.unroute(`**${TEMPLATES}/*`);
    await page.getByRole('button', { name: 'Renovar todas' }).click();
    expect(await dialog.getByLabel('Publicarlas todas').isChecked()).toBe(false);
    expect(await dialog.getByRole('progressbar').count()).toBe(0);
    await dialog.getByRole('button', { name: 'Renovar' }).click();
    await page.getByText('Se renovaron 2 plantillas').first().waitFor();
    expect(held).toHaveLength(1);
    for (const { id } of users) expect(await stored(id)).toMatchObject({ version: 2, published_version: 1 });
  });

  it('are not published with a draft that somebody begins meanwhile', async () => {
    const { footer, users } = await outdated(1);
    const [user] = users as [Template];
    const visitor = await bench.ownerBackAt(`messages/templates/${footer.id}`);
    const { page, dialog } = visitor;
    await page.route(`**${TEMPLATES}/${user.id}`, async (route) => {
      if (route.request().method() === 'PATCH') {
        const draft = { locales: { es: { subject: 'Borrador' } }, publish: false };
        expectStatus(await bench.tenant.admin.patch(`${TEMPLATES}/${user.id}`, draft), 200);
      }
      await route.fallback();
    });
    await page.getByRole('button', { name: 'Renovar todas' }).click();
    await dialog.getByLabel('Publicarlas todas').check();
    await dialog.getByRole('button', { name: 'Renovar' }).click();
    await dialog.getByRole('listitem').filter({ hasText: user.name }).waitFor();
    expect(await stored(user.id)).toMatchObject({ version: 2, published_version: 1 });
  });

  it('that are missing are written beside, and found when one comes back', async () => {
    // No other walk has any of this channel.
    const visitor = await bench.ownerBackAt('messages/templates/new?channel=in_app');
    const { page } = visitor;
    await page.getByLabel('Título').fill('Sin guardar');
    const opened = page.context().waitForEvent('page');
    await page.getByRole('link', { name: 'Crear un fragmento' }).click();
    const beside = await opened;
    const name = aName('Saludo');
    await beside.getByLabel('Nombre').fill(name);
    await beside.getByLabel('Cuerpo').fill('Hola');
    await beside.getByRole('button', { name: 'Crear plantilla' }).click();
    await beside.getByRole('heading', { level: 1, name }).waitFor();
    await beside.getByRole('button', { name: 'Publicar la versión 1' }).click();
    await beside.locator('dialog[open]').getByRole('button', { name: 'Publicar esta versión' }).click();
    await beside.getByText('La versión 1 está publicada').first().waitFor();
    await beside.close();
    // Chromium without a screen has all of its tabs in sight.
    await page.evaluate(() => window.dispatchEvent(new Event('visibilitychange')));
    await page.getByLabel('Insertar fragmento').selectOption({ label: `${name} (body)` });
    expect(await page.getByLabel('Título').inputValue()).toBe('Sin guardar');
  });

  it('are only looked at by who may only read them', async () => {
    const footer = await made({ kind: 'partial', locales: { es: { html: '<p>uno</p>' } } });
    const html = `{% render '${footer.name}' %}`;
    const user = await made({ locales: { es: { subject: 'Hola', html } } });
    const change = { locales: { es: { html: '<p>dos</p>' } } };
    expectStatus(await bench.tenant.admin.patch(`${TEMPLATES}/${footer.id}`, change), 200);
    const reader = await bench.holderOf('messaging.templates.read');
    const { page } = reader;
    await reader.open(`messages/templates/${footer.id}`);
    await page.getByRole('link', { name: user.name }).click();
    await page.getByText('ya está publicada la 2').waitFor();
    expect(await page.getByRole('button', { name: /Renovar|Guardar|Eliminar|Publicar/ }).count()).toBe(0);
  });
});

describe('the pages', () => {
  itHasNothingToStumbleOver(bench, async () => {
    const footer = await made({ kind: 'partial', locales: { es: { html: '<p>uno</p>' } } });
    const place = `{{ content }}{% render '${footer.name}' %}`;
    const brand = await made({ kind: 'layout', locales: { es: { html: place } } });
    const message = await made({
      layout: brand.name,
      locales: { es: { subject: 'Hola', html: '<p>Hola</p>' } },
    });
    return [
      'messages/templates',
      'messages/templates?kind=layout',
      'messages/templates/new?kind=layout',
      'messages/templates/new?kind=partial&channel=sms',
      ...[footer, brand, message].map(({ id }) => `messages/templates/${id}`),
    ];
  });
});
