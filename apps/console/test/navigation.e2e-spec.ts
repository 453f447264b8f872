import { randomUUID } from 'node:crypto';
import { eventually, expectStatus } from '@customer-platform/testing';
import { consoleBench, DESK_AND_PHONE } from './console.fixture.js';
import type { Visitor } from './visitor.fixture.js';

const bench = consoleBench();

/** Opens the search by its keys, and types. */
async function search(visitor: Visitor, typed: string): Promise<ReturnType<Visitor['row']>> {
  await visitor.page.keyboard.press('Control+k');
  await visitor.page.getByRole('combobox', { name: 'Buscar' }).fill(typed);
  return visitor.page.getByRole('option');
}

/** Waits until what is around the page is there: its keys and its guard come after it. */
async function aroundOf({ page }: Visitor): Promise<void> {
  await page
    .getByRole('list', { name: 'Páginas de esta sección' })
    .or(page.getByRole('navigation', { name: 'Ruta a esta página' }))
    .first()
    .waitFor();
}

describe('the search over everything', () => {
  it('finds things of every kind by their names, and by ids, and goes there', async () => {
    const word = `Zafiro${randomUUID().slice(0, 8)}`;
    const { id, externalId, email } = await bench.contact({ first_name: word });
    await bench.made('/v1/core/segments', {
      name: `${word} seg`,
      rule: { event: 'zafiro_bought', count: { op: 'gte', value: 1 } },
    });
    await bench.made('/v1/crm/lists', { name: `${word} list` });
    const template = await bench.made('/v1/messaging/templates', {
      name: `${word} tpl`,
      channel: 'email',
      default_locale: 'en',
      locales: { en: { subject: 'Hi', html: '<p>Hi.</p>' } },
    });
    await bench.made('/v1/crm/object-definitions', {
      slug: word.toLowerCase(),
      name: `${word} obj`,
      fields: [{ key: 'code', label: 'Code', type: 'string', max_length: 20 }],
    });
    await bench.made('/v1/messaging/webhook-endpoints', {
      name: `${word} hook`,
      url: 'http://127.0.0.1:9/hook',
      events: ['core.event.recorded'],
    });
    await bench.track('zafiro_bought', externalId);
    const visitor = await bench.signedIn(bench.owner);
    const { page } = visitor;
    // Names are found in whatever case they are typed.
    const options = await search(visitor, word.toLowerCase());
    for (const [kind, name] of [
      ['Contacto', email],
      ['Segmento', `${word} seg`],
      ['Lista', `${word} list`],
      ['Plantilla', `${word} tpl`],
      ['Objeto', `${word} obj`],
      ['Endpoint de webhook', `${word} hook`],
    ] as const)
      await options.filter({ hasText: kind }).filter({ hasText: name }).waitFor();
    await visitor.expectAccessible();
    await options.filter({ hasText: `${word} tpl` }).click();
    await page.waitForURL(`**/messages/templates/${template}`);

    await (await search(visitor, id)).filter({ hasText: email }).click();
    await page.waitForURL(`**/contacts/${id}`);
    const event = await eventually(async () => {
      const { body } = await bench.tenant.admin.get<{ data: { correlation_id: string }[] }>(
        `/v1/core/events?external_id=${externalId}`,
      );
      return body.data[0] ?? Promise.reject(new Error('not stored yet'));
    });
    await (await search(visitor, event.correlation_id)).filter({ hasText: 'zafiro_bought' }).click();
    await page.waitForURL(`**/contacts/${id}?open=${event.correlation_id}`);
    await page.getByRole('button', { name: 'zafiro_bought', expanded: true }).waitFor();
  });

  it('offers what one can begin, and nothing that one may not', async () => {
    const visitor = await bench.holderOf('core.contacts.read', 'core.segments.read', 'core.segments.create');
    const options = await search(visitor, 'crear');
    await options.filter({ hasText: 'Crear un segmento' }).waitFor();
    expect(await options.count()).toBe(1);
    await visitor.page.keyboard.press('Enter');
    await visitor.page.waitForURL('**/segments/new');
  });

  it('asks for a national id by its look-up alone, and by nothing without the permission', async () => {
    const { email } = await bench.contact({ national_id: { type: 'CL_RUT', value: '12.345.678-5' } });
    const visitors = [
      await bench.signedIn(bench.owner),
      await bench.holderOf('core.contacts.read', 'core.events.read'),
    ];
    for (const [at, visitor] of visitors.entries()) {
      const { page } = visitor;
      const asked: string[] = [];
      page.on('request', (request) => asked.push(decodeURIComponent(request.url())));
      await search(visitor, '12.345.678-');
      await page.getByText('Sin resultados.').waitFor();
      const options = page.getByRole('option');
      await page.getByRole('combobox', { name: 'Buscar' }).fill('12.345.678-5');
      if (at === 0) await options.filter({ hasText: email }).waitFor();
      else await page.getByText('Sin resultados.').waitFor();
      await page.getByRole('combobox', { name: 'Buscar' }).fill('qwxz');
      await page.getByText('Sin resultados.').waitFor();
      expect(asked.filter((url) => /12\.345\.678|12345678/.test(url))).toEqual([]);
      expect(asked.filter((url) => url.endsWith('/v1/core/contacts/lookup')).length).toBe(at === 0 ? 1 : 0);
    }
  });

  it('opens nothing of what was found for the text before', async () => {
    const [first, second] = [`Rubi${randomUUID().slice(0, 8)}`, `Opalo${randomUUID().slice(0, 8)}`];
    await bench.contact({ first_name: first });
    const { id, email } = await bench.contact({ first_name: second });
    const visitor = await bench.ownerAt('contacts');
    const { page } = visitor;
    await visitor.settled();
    const options = await search(visitor, first);
    await options.filter({ hasText: first }).waitFor();
    const pressed = Promise.withResolvers<void>();
    await page.route(
      (url) => url.search.includes(second),
      async (route) => {
        await pressed.promise;
        await route.continue();
      },
    );
    const before = page.url();
    await page.getByRole('combobox', { name: 'Buscar' }).fill(second);
    await page.keyboard.press('Enter');
    pressed.resolve();
    await options.filter({ hasText: email }).waitFor();
    expect(page.url()).toBe(before);
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/contacts/${id}`);
  });

  it('stays in front of a panel that comes late, and shows it when it goes', async () => {
    const word = `Agata${randomUUID().slice(0, 8)}`;
    const object = await bench.made('/v1/crm/object-definitions', {
      slug: word.toLowerCase(),
      name: word,
      fields: [{ key: 'code', label: 'Code', type: 'string', max_length: 20 }],
    });
    const visitor = await bench.signedIn(bench.owner);
    const { page } = visitor;
    const panel = page.getByRole('dialog', { name: word, exact: true });
    const searchBeforePanel = async (): Promise<void> => {
      const searching = Promise.withResolvers<void>();
      await page.unrouteAll();
      await page.route(/\/assets\/definition-panel-/, async (route) => {
        await searching.promise;
        await route.continue();
      });
      await visitor.open('objects');
      await visitor.row(word).click();
      await page.waitForURL(`**/objects?open=${object}`);
      await (await search(visitor, word)).filter({ hasText: word }).waitFor();
      searching.resolve();
      await page.locator('dialog').filter({ hasText: word }).waitFor({ state: 'attached' });
      expect(await panel.isVisible()).toBe(false);
    };
    await searchBeforePanel();
    await page.keyboard.press('Escape');
    await panel.waitFor();
    await searchBeforePanel();
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/objects/${word.toLowerCase()}`);
  });
});

describe('what was written and not saved', () => {
  it('goes with a dialog, a link or a step back only after a question', async () => {
    const visitor = await bench.signedIn(bench.owner);
    const { page, dialog } = visitor;
    const question = page.getByRole('dialog', { name: '¿Descartar lo que escribiste?' });
    await visitor.open('contacts?form=true');
    await aroundOf(visitor);
    await dialog.getByLabel('Nombre', { exact: true }).fill('Rosa');
    await page.keyboard.press('Escape');
    await question.getByRole('button', { name: 'Seguir editando' }).click();
    expect(await dialog.getByLabel('Nombre', { exact: true }).inputValue()).toBe('Rosa');
    await dialog.getByRole('button', { name: 'Cerrar' }).click();
    await visitor.expectAccessible();
    await question.getByRole('button', { name: 'Descartar' }).click();
    await eventually(async () => expect(await page.locator('dialog[open]').count()).toBe(0));

    await visitor.open('segments/new');
    await aroundOf(visitor);
    await page.getByLabel('Nombre').fill('Compradores');
    await visitor.menu.getByRole('link', { name: 'Contactos', exact: true }).click();
    await question.getByRole('button', { name: 'Seguir editando' }).click();
    expect(page.url()).toMatch(/segments\/new$/);
    await visitor.menu.getByRole('link', { name: 'Contactos', exact: true }).click();
    await question.getByRole('button', { name: 'Descartar' }).click();
    await visitor.isAt('Contactos');
  });

  it('is no matter of what was saved, searched or canceled', async () => {
    const visitor = await bench.signedIn(bench.owner);
    const { page, dialog } = visitor;
    const { id } = await bench.contact();
    await visitor.open(`contacts/${id}/notes`);
    await aroundOf(visitor);
    await page.getByLabel('Escribe una nota').fill('Llamar el lunes');
    await page.getByRole('button', { name: 'Guardar nota' }).click();
    await page.getByText('Llamar el lunes').first().waitFor();
    await visitor.menu.getByRole('link', { name: 'Contactos', exact: true }).click();
    await visitor.isAt('Contactos');
    await page.getByRole('searchbox').first().fill('ana');
    await page.getByRole('button', { name: 'Crear contacto' }).click();
    await dialog.getByLabel('Nombre', { exact: true }).fill('Rosa');
    await dialog.getByRole('button', { name: 'Cancelar' }).click();
    await visitor.menu.getByRole('link', { name: 'Segmentos', exact: true }).click();
    await visitor.isAt('Segmentos');
  });

  it('goes with a switch to another organization or a sign-out only after a question', async () => {
    const second = await bench.platform.tenant();
    const person = await bench.staff(second, 'owner');
    await bench.join(bench.tenant, person, 'owner');
    const visitor = await bench.visitor();
    const { page } = visitor;
    const question = page.getByRole('dialog', { name: '¿Descartar lo que escribiste?' });
    await visitor.signIn(person, second.slug);
    await visitor.open('segments/new');
    await aroundOf(visitor);
    await page.getByLabel('Nombre').fill('Compradores');
    for (const item of [bench.tenant.slug, 'Cerrar sesión']) {
      await page.getByRole('button', { name: second.slug }).click();
      await page.getByRole('menuitem', { name: item }).click();
      await question.getByRole('button', { name: 'Seguir editando' }).click();
      expect(await page.getByLabel('Nombre').inputValue()).toBe('Compradores');
    }
    await page.getByRole('button', { name: second.slug }).click();
    await page.getByRole('menuitem', { name: bench.tenant.slug }).click();
    await question.getByRole('button', { name: 'Descartar' }).click();
    await page.waitForURL(`**/o/${bench.tenant.slug}/segments`);
    await visitor.isAt('Segmentos');
  });

  it('is not saved while it waits for an answer to what somebody else changed', async () => {
    const { id } = await bench.contact({ first_name: 'Dora' });
    const visitor = await bench.ownerAt(`contacts/${id}/profile`);
    const { page } = visitor;
    await aroundOf(visitor);
    await page.getByRole('button', { name: 'Editar', exact: true }).click();
    await page.getByRole('textbox', { name: 'Apellido' }).fill('Mistral');
    expectStatus(await bench.tenant.admin.patch(`/v1/core/contacts/${id}`, { last_name: 'Parra' }), 200);
    await page.getByRole('button', { name: 'Guardar', exact: true }).click();
    await page.getByText('Otra persona cambió este contacto mientras tanto:').waitFor();
    await visitor.menu.getByRole('link', { name: 'Contactos', exact: true }).click();
    await page
      .getByRole('dialog', { name: '¿Descartar lo que escribiste?' })
      .getByRole('button', { name: 'Seguir editando' })
      .click();
    expect(await page.getByRole('textbox', { name: 'Apellido' }).inputValue()).toBe('Mistral');
  });

  it('stands in no form of another contact', async () => {
    const visitor = await bench.ownerAt('contacts');
    const { page, dialog } = visitor;
    await aroundOf(visitor);
    await (await search(visitor, 'crear un contacto')).first().click();
    await dialog.getByLabel('Documento de identidad').fill('12.345.678-5');
    await page.evaluate(() => window.history.back());
    await page.getByRole('dialog', { name: '¿Descartar lo que escribiste?' }).waitFor();
    await page.getByRole('button', { name: 'Descartar' }).click();
    await eventually(async () => expect(await page.locator('dialog[open]').count()).toBe(0));
    await page.getByRole('button', { name: 'Crear contacto' }).click();
    expect(await dialog.getByLabel('Documento de identidad').inputValue()).toBe('');
  });
});

describe('a secret that is shown once', () => {
  it('goes by a step back only after a question', async () => {
    const visitor = await bench.ownerAt('developers/keys');
    const { page, dialog } = visitor;
    await aroundOf(visitor);
    await page.getByRole('button', { name: 'Crear clave' }).click();
    await dialog.getByLabel('Nombre', { exact: true }).fill('Tienda');
    await dialog.getByRole('button', { name: 'Crear clave' }).click();
    const shown = page.getByRole('dialog', { name: 'Clave «Tienda»' });
    const question = page.getByRole('dialog', { name: '¿Salir sin el secreto?' });
    await shown.waitFor();
    await page.evaluate(() => window.history.back());
    await visitor.expectAccessible();
    await question.getByRole('button', { name: 'Quedarse' }).click();
    await question.waitFor({ state: 'hidden' });
    await shown.getByRole('region').waitFor();
    await page.waitForURL('**/developers/keys?open=new');
    await page.evaluate(() => window.history.back());
    await question.getByRole('button', { name: 'Salir' }).click();
    await shown.waitFor({ state: 'hidden' });
  });
});

describe('lists', () => {
  it('are gone through by keys without a click, and open rows in other tabs like links', async () => {
    await bench.contact();
    await bench.contact();
    const visitor = await bench.ownerAt('contacts?sort=created_at');
    const { page } = visitor;
    await aroundOf(visitor);
    await page.getByRole('row').nth(2).waitFor();
    const focused = page.locator('tr[data-index]:focus');
    await page.keyboard.press('j');
    expect(await focused.getAttribute('data-index')).toBe('0');
    await page.keyboard.press('j');
    expect(await focused.getAttribute('data-index')).toBe('1');
    await page.keyboard.press('?');
    await visitor.dialog.getByText('Ir al filtro').waitFor();
    await visitor.expectAccessible();
    await page.keyboard.press('Escape');
    await page.keyboard.press('k');
    expect(await focused.getAttribute('data-index')).toBe('0');
    const [tab] = await Promise.all([
      page.context().waitForEvent('page'),
      page.getByRole('row').nth(1).click({ button: 'middle' }),
    ]);
    await tab.waitForURL(/\/contacts\/[0-9a-f-]{36}$/);
    expect(page.url()).toMatch(/\/contacts\?sort=created_at$/);
    await tab.close();
    await page.keyboard.press('/');
    await page.locator('[data-main-filter]:focus').waitFor();
  });
});

describe('the way through sections', () => {
  it.each(DESK_AND_PHONE)('shows pages below the open one, and those above, at $width px', async (eyes) => {
    const visitor = await bench.newOwner(eyes);
    const { page } = visitor;
    const words =
      eyes.locale === 'en'
        ? { parts: 'Pages of this section', path: 'Path to this page', up: 'Messages', menu: 'Open menu' }
        : {
            parts: 'Páginas de esta sección',
            path: 'Ruta a esta página',
            up: 'Mensajes',
            menu: 'Abrir menú',
          };
    await visitor.open('messages/templates');
    await visitor.settled();
    await page.getByRole('navigation', { name: words.path }).getByRole('link', { name: words.up }).waitFor();
    if (eyes.width === 360) await page.getByRole('button', { name: words.menu }).click();
    const parts = page.getByRole('list', { name: words.parts });
    expect(await parts.getByRole('link').count()).toBe(8);
    expect(await parts.locator('[aria-current=page]').count()).toBe(1);
    await visitor.expectAccessible();
  });
});

describe('the audit log', () => {
  it('names the keys that did something', async () => {
    await bench.contact();
    const { body } = await bench.tenant.admin.get<{ data: { name: string }[] }>(
      '/v1/identity/api-keys?limit=200',
    );
    const names = new RegExp(body.data.map(({ name }) => name.replaceAll(/\W/g, '.')).join('|'));
    const { page } = await bench.ownerAt('audit');
    await page.getByRole('row').filter({ hasText: names }).first().waitFor();
  });
});
