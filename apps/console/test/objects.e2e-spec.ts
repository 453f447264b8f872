import { randomUUID } from 'node:crypto';
import {
  END_WITHIN_MS,
  eventually,
  expectStatus,
  START_WITHIN_MS,
  type Page,
  type Tenant,
} from '@customer-platform/testing';
import { ConsoleBench, type Staff, type Visitor } from './console.fixture.js';

const MARKUP = '<img src=x onerror="document.title=`broken`">';
const DEFINITIONS = '/v1/crm/object-definitions';

let bench: ConsoleBench;
let tenant: Tenant;
let owner: Staff;

beforeAll(async () => {
  bench = await ConsoleBench.start();
  tenant = await bench.platform.tenant();
  owner = await bench.staff(tenant);
}, START_WITHIN_MS);
afterAll(() => bench.end(), END_WITHIN_MS);

/** In front of the page. */
const dialog = (page: Page) => page.locator('dialog[open]').last();
const aSlug = (): string => `vehicle_${randomUUID().slice(0, 8)}`;

async function made(path: string, body: object): Promise<string> {
  const answer = await tenant.admin.post<{ id: string }>(path, body);
  expectStatus(answer, 201);
  return answer.body.id;
}

async function aContact(): Promise<{ id: string; email: string }> {
  const email = `${randomUUID()}@example.com`;
  return { id: await made('/v1/core/contacts', { email }), email };
}

interface Definition {
  id: string;
  slug: string;
  name: string;
}

/** A definition with a field of every type, all that can be indexed. */
async function aDefinition(target?: string): Promise<Definition> {
  const slug = aSlug();
  const name = `Vehículo ${slug}`;
  const indexed = { indexed: true };
  const fields = [
    { key: 'plate', label: 'Patente', type: 'string', required: true, unique: true },
    { key: 'year', label: 'Año', type: 'integer', min: 1900, ...indexed },
    { key: 'price', label: 'Precio', type: 'number', ...indexed },
    { key: 'sold', label: 'Vendido', type: 'boolean', ...indexed },
    { key: 'bought_on', label: 'Comprado', type: 'date', ...indexed },
    { key: 'seen_at', label: 'Visto', type: 'datetime', ...indexed },
    { key: 'colour', label: 'Color', type: 'enum', options: [{ value: 'red', label: 'Rojo' }], ...indexed },
    { key: 'owner', label: 'Dueño', type: 'reference', target: 'contact', ...indexed },
    ...(target === undefined ? [] : [{ key: 'garage', label: 'Garaje', type: 'reference', target }]),
  ];
  return { id: await made(DEFINITIONS, { slug, name, fields }), slug, name };
}

async function expectUnbroken(visitor: Visitor): Promise<void> {
  expect(await visitor.page.title()).not.toBe('broken');
  expect(await visitor.page.locator('main img, main script, dialog img, dialog script').count()).toBe(0);
  expect(visitor.complaints).toEqual([]);
}

describe('a definition', () => {
  it('is made field by field, changed, and says what of its records stands in the way', async () => {
    const slug = aSlug();
    const name = `Póliza ${slug} ${MARKUP}`;
    const visitor = await bench.signedIn(owner);
    const { page } = visitor;
    await visitor.open('');
    await page.getByRole('navigation', { name: 'Menú' }).getByRole('link', { name: 'Objetos' }).click();
    await page.getByRole('button', { name: 'Nueva definición' }).click();
    await dialog(page).getByLabel('Nombre', { exact: true }).fill(name);
    await dialog(page).getByLabel('Nombre en la API').fill('Not a slug');
    await dialog(page).getByRole('button', { name: 'Agregar un campo' }).click();
    await dialog(page).getByLabel('Nombre del campo').fill('Número');
    expect(await dialog(page).getByLabel('Clave').inputValue()).toBe('numero');
    await dialog(page).getByLabel('se puede filtrar y ordenar').check();
    await dialog(page).getByRole('button', { name: 'Agregar un campo' }).click();
    await dialog(page).getByLabel('Nombre del campo').last().fill('Tipo');
    await dialog(page).getByLabel('Tipo', { exact: true }).last().selectOption('enum');
    await dialog(page).getByLabel('Valor de la opción 1').fill('auto');
    await dialog(page).getByRole('button', { name: 'Agregar una opción' }).click();
    await dialog(page).getByLabel('Valor de la opción 2').fill('hogar');
    await dialog(page).getByRole('button', { name: 'Crear la definición' }).click();
    // The API says what is wrong with it; what was written stays.
    await dialog(page).getByRole('alert').waitFor();
    await dialog(page).getByLabel('Nombre en la API').fill(slug);
    await dialog(page).getByRole('button', { name: 'Crear la definición' }).click();
    await dialog(page).getByRole('heading', { name }).waitFor();
    await dialog(page).getByText('elección · auto, hogar').waitFor();
    await expectUnbroken(visitor);

    await made(`/v1/crm/objects/${slug}`, { values: { tipo: 'auto' } });
    await dialog(page).getByRole('button', { name: 'Cambiar', exact: true }).click();
    await dialog(page).getByRole('button', { name: 'Quitar el campo Tipo' }).click();
    await dialog(page).getByRole('button', { name: 'Guardar la definición' }).click();
    await dialog(page).getByText('1 registro tiene un valor de Tipo').waitFor();
    await dialog(page).getByRole('button', { name: 'Cancelar' }).click();
    await dialog(page).getByRole('button', { name: 'Cambiar', exact: true }).click();
    await dialog(page).getByRole('button', { name: 'Cambiar el campo Número' }).click();
    await dialog(page).getByLabel('requerido').check();
    await dialog(page).getByRole('button', { name: 'Guardar la definición' }).click();
    await dialog(page).getByText('1 registro activo no tiene un valor de Número').waitFor();
    await dialog(page).getByLabel('requerido').uncheck();
    await dialog(page).getByRole('button', { name: 'Cambiar el campo Tipo' }).click();
    await dialog(page).getByLabel('archivado', { exact: true }).last().check();
    await dialog(page).getByRole('button', { name: 'Guardar la definición' }).click();
    await dialog(page).getByText('archivado').first().waitFor();
    await expectUnbroken(visitor);
    await visitor.close();
  });

  it('is deleted, its records are read and removed by then, and what keeps it is counted', async () => {
    const { id, slug, name } = await aDefinition();
    const record = await made(`/v1/crm/objects/${slug}`, { values: { plate: 'KLMN45' } });
    const visitor = await bench.signedIn(owner);
    const { page } = visitor;
    await visitor.open(`objects?open=${id}`);
    await dialog(page).getByRole('button', { name: 'Eliminar', exact: true }).click();
    await page.getByText(`${name} se eliminó`).first().waitFor();
    await visitor.open(`objects?deleted=true&open=${id}`);
    await dialog(page).getByRole('button', { name: 'Quitar para siempre' }).click();
    await dialog(page).getByRole('button', { name: 'Quitar para siempre' }).click();
    await dialog(page).getByRole('alert').waitFor();
    await visitor.open(`objects/${id}?open=${record}`);
    await dialog(page).getByRole('heading', { name: 'KLMN45' }).waitFor();
    expect(await dialog(page).getByRole('button', { name: 'Cambiar' }).count()).toBe(0);
    await dialog(page).getByRole('button', { name: 'Eliminar', exact: true }).click();
    await visitor.open(`objects/${id}?deleted=true&open=${record}`);
    await dialog(page).getByRole('button', { name: 'Quitar para siempre' }).click();
    await dialog(page).getByRole('button', { name: 'Quitar para siempre' }).click();
    await page.getByText('KLMN45 se quitó para siempre').first().waitFor();
    expectStatus(await tenant.admin.call('DELETE', `${DEFINITIONS}/${id}/purge`), 204);
    await visitor.close();
  });
});

describe('a record', () => {
  it('is written with a value of every type, changed, filtered, sorted, and found at its contact', async () => {
    const garage = await aDefinition();
    const parked = await made(`/v1/crm/objects/${garage.slug}`, { values: { plate: 'GARAJE-1' } });
    const { slug, name } = await aDefinition(garage.id);
    const contact = await aContact();
    const visitor = await bench.signedIn(owner);
    const { page } = visitor;
    await visitor.open(`objects/${slug}?open=new`);
    await dialog(page).getByRole('textbox', { name: 'Patente' }).fill(`K${MARKUP}`);
    await dialog(page).getByLabel('Año').fill('2024');
    await dialog(page).getByLabel('Precio').fill('9.5');
    await dialog(page).getByLabel('Vendido').selectOption('true');
    await dialog(page).getByLabel('Comprado').fill('2026-02-28');
    await dialog(page).getByLabel('Visto').fill('2026-03-01T10:30');
    await dialog(page).getByLabel('Color').selectOption('red');
    const owners = dialog(page).getByRole('group', { name: 'Dueño' });
    await owners.getByRole('searchbox').fill(contact.email);
    await owners.getByRole('button', { name: new RegExp(contact.email) }).click();
    await dialog(page).getByRole('button', { name: 'GARAJE-1' }).click();
    await dialog(page).getByRole('button', { name: 'Crear el registro' }).click();
    await dialog(page)
      .getByRole('heading', { name: `K${MARKUP}` })
      .waitFor();
    await dialog(page).getByRole('link', { name: contact.email }).waitFor();
    await dialog(page).getByRole('link', { name: 'GARAJE-1' }).waitFor();
    const { body } = await tenant.admin.get<{ data: { id: string; values: object }[] }>(
      `/v1/crm/objects/${slug}`,
    );
    expect(body.data[0]?.values).toMatchObject({
      year: 2024,
      price: 9.5,
      sold: true,
      bought_on: '2026-02-28',
      colour: 'red',
      owner: contact.id,
      garage: parked,
    });

    await dialog(page).getByRole('button', { name: 'Cambiar', exact: true }).click();
    await dialog(page).getByLabel('Año').fill('1800');
    await dialog(page)
      .getByLabel('Año')
      .evaluate((input) => input.removeAttribute('min'));
    await dialog(page).getByRole('button', { name: 'Guardar el registro' }).click();
    await dialog(page).getByRole('alert').waitFor();
    await dialog(page).getByLabel('Año').fill('2025');
    const path = `/v1/crm/objects/${slug}/${body.data[0]?.id ?? ''}`;
    expectStatus(await tenant.admin.patch(path, { values: { year: 2023 } }), 200);
    await dialog(page).getByRole('button', { name: 'Guardar el registro' }).click();
    await dialog(page).getByText('2023').waitFor();
    await dialog(page).getByRole('button', { name: 'Guardar lo que escribí' }).click();
    await dialog(page).getByText('2025').first().waitFor();
    await expectUnbroken(visitor);

    await made(`/v1/crm/objects/${slug}`, { values: { plate: 'OTHER', year: 1999 } });
    await visitor.open(`objects/${slug}?values.year[gte]=2000`);
    await page.getByRole('cell', { name: '2025' }).waitFor();
    expect(await page.getByRole('cell', { name: 'OTHER' }).count()).toBe(0);
    await page.getByLabel('Año desde').fill('1990');
    await page.getByRole('cell', { name: 'OTHER' }).waitFor();
    await page.getByRole('button', { name: 'Año', exact: true }).click();
    await page
      .getByRole('columnheader', { name: 'Año' })
      .and(page.locator('[aria-sort=descending]'))
      .waitFor();
    expect(await page.locator('tbody tr[data-index="0"]').textContent()).toContain('2025');

    await visitor.open(`contacts/${contact.id}/objects`);
    const section = page.locator('section').filter({ hasText: `${name} · Dueño` });
    await section.getByRole('link', { name: `K${MARKUP}` }).click();
    await dialog(page)
      .getByRole('heading', { name: `K${MARKUP}` })
      .waitFor();
    await expectUnbroken(visitor);
    await visitor.close();
  });

  it('that others refer to is not removed, and says so', async () => {
    const garage = await aDefinition();
    const parked = await made(`/v1/crm/objects/${garage.slug}`, { values: { plate: 'GARAJE-2' } });
    const vehicle = await aDefinition(garage.id);
    await made(`/v1/crm/objects/${vehicle.slug}`, { values: { plate: 'A', garage: parked } });
    const visitor = await bench.signedIn(owner);
    const { page } = visitor;
    await visitor.open(`objects/${garage.slug}?open=${parked}`);
    await dialog(page).getByRole('button', { name: 'Eliminar', exact: true }).click();
    await page.getByRole('button', { name: 'Deshacer' }).click();
    await page.getByRole('cell', { name: 'GARAJE-2' }).waitFor();
    expectStatus(await tenant.admin.call('DELETE', `/v1/crm/objects/${garage.slug}/${parked}`), 204);
    await visitor.open(`objects/${garage.slug}?deleted=true&open=${parked}`);
    await dialog(page).getByRole('button', { name: 'Quitar para siempre' }).click();
    await dialog(page).getByRole('button', { name: 'Quitar para siempre' }).click();
    await dialog(page).getByRole('alert').waitFor();
    await visitor.close();
  });
});

describe('who may only read', () => {
  it('finds nothing to press, and who may not is not led there', async () => {
    const { slug, id } = await aDefinition();
    const record = await made(`/v1/crm/objects/${slug}`, { values: { plate: 'READ' } });
    const reader = await bench.signedIn(await bench.staffWith(tenant, ['crm.objects.read']));
    for (const path of [`objects?open=${id}`, `objects/${slug}?open=${record}`]) {
      await reader.open(path);
      await dialog(reader.page).getByText('Patente').first().waitFor();
      const buttons = reader.page.getByRole('button', { name: /^(Cambiar|Eliminar|Nuev[ao])/ });
      expect(await buttons.count()).toBe(0);
    }
    await reader.close();
    const other = await bench.signedIn(await bench.staffWith(tenant, ['core.segments.read']));
    const menu = other.page.getByRole('navigation', { name: 'Menú' });
    await menu.getByRole('link', { name: 'Segmentos' }).waitFor();
    expect(await menu.getByRole('link', { name: 'Objetos' }).count()).toBe(0);
    await other.open('segments');
    await other.page.goto(other.page.url().replace(/segments.*/, 'objects'));
    await other.page.getByText('crm.objects.read').waitFor();
    await other.close();
  });
});

describe('the pages', () => {
  it.each([
    { scheme: 'light', width: 1_440, locale: 'es-CL' },
    { scheme: 'dark', width: 360, locale: 'es-CL' },
    { scheme: 'light', width: 768, locale: 'en' },
    { scheme: 'dark', width: 1_440, locale: 'en' },
  ] as const)('have nothing to stumble over at $width px, $scheme, $locale', async (eyes) => {
    const { id, slug } = await aDefinition();
    const contact = await aContact();
    const values = { plate: `P-${slug}`, year: 2024, sold: false, colour: 'red', owner: contact.id };
    const record = await eventually(() => made(`/v1/crm/objects/${slug}`, { values }));
    const visitor = await bench.signedIn(await bench.staff(tenant, 'owner', eyes.locale), eyes);
    const paths = [
      'objects',
      'objects?open=new',
      `objects?open=${id}`,
      `objects/${slug}`,
      `objects/${slug}?open=new`,
      `objects/${slug}?open=${record}`,
      `contacts/${contact.id}/objects`,
    ];
    for (const path of paths) {
      await visitor.open(path);
      await visitor.page.waitForFunction(() => document.querySelector('[aria-busy="true"]') === null);
      expect([path, await visitor.findings()]).toEqual([path, []]);
      expect([path, await visitor.isTooWide()]).toEqual([path, false]);
    }
    expect(visitor.complaints).toEqual([]);
    await visitor.close();
  });
});
