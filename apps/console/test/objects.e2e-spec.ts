import { randomUUID } from 'node:crypto';
import { eventually, expectStatus } from '@customer-platform/testing';
import { consoleBench, itHasNothingToStumbleOver } from './console.fixture.js';
import { MARKUP } from './visitor.fixture.js';

const DEFINITIONS = '/v1/crm/object-definitions';

const bench = consoleBench();

const aSlug = (): string => `vehicle_${randomUUID().slice(0, 8)}`;

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
  return { id: await bench.made(DEFINITIONS, { slug, name, fields }), slug, name };
}

describe('a definition', () => {
  it('is made field by field, changed, and says what of its records stands in the way', async () => {
    const slug = aSlug();
    const name = `Póliza ${slug} ${MARKUP}`;
    const visitor = await bench.ownerAt('');
    const { page, dialog, menu } = visitor;
    await menu.getByRole('link', { name: 'Objetos' }).click();
    await page.getByRole('button', { name: 'Nueva definición' }).click();
    await dialog.getByLabel('Nombre', { exact: true }).fill(name);
    await dialog.getByLabel('Nombre en la API').fill('Not a slug');
    await dialog.getByRole('button', { name: 'Agregar un campo' }).click();
    await dialog.getByLabel('Nombre del campo').fill('Número');
    expect(await dialog.getByLabel('Clave').inputValue()).toBe('numero');
    await dialog.getByLabel('Se puede filtrar y ordenar').check();
    await dialog.getByRole('button', { name: 'Agregar un campo' }).click();
    await dialog.getByLabel('Nombre del campo').last().fill('Tipo');
    await dialog.getByLabel('Tipo', { exact: true }).last().selectOption('enum');
    await dialog.getByLabel('Valor de la opción 1').fill('auto');
    await dialog.getByRole('button', { name: 'Agregar una opción' }).click();
    await dialog.getByLabel('Valor de la opción 2').fill('hogar');
    await dialog.getByRole('button', { name: 'Crear definición' }).click();
    // The API says what is wrong with it; what was written stays.
    await dialog.getByRole('alert').waitFor();
    await dialog.getByLabel('Nombre en la API').fill(slug);
    await dialog.getByRole('button', { name: 'Crear definición' }).click();
    await dialog.getByRole('heading', { name }).waitFor();
    await dialog.getByText('opción · auto, hogar').waitFor();
    await visitor.expectUnbroken();

    await bench.made(`/v1/crm/objects/${slug}`, { values: { tipo: 'auto' } });
    await dialog.getByRole('button', { name: 'Editar', exact: true }).click();
    await dialog.getByRole('button', { name: 'Quitar el campo Tipo' }).click();
    await dialog.getByRole('button', { name: 'Guardar definición' }).click();
    await dialog.getByText('1 registro tiene un valor en Tipo').waitFor();
    await dialog.getByRole('button', { name: 'Cancelar' }).click();
    await dialog.getByRole('button', { name: 'Editar', exact: true }).click();
    await dialog.getByRole('button', { name: 'Editar el campo Número' }).click();
    await dialog.getByLabel('obligatorio').check();
    await dialog.getByRole('button', { name: 'Guardar definición' }).click();
    await dialog.getByText('1 registro activo no tiene un valor en Número').waitFor();
    await dialog.getByLabel('obligatorio').uncheck();
    await dialog.getByRole('button', { name: 'Editar el campo Tipo' }).click();
    await dialog.getByLabel('archivado', { exact: true }).last().check();
    await dialog.getByRole('button', { name: 'Guardar definición' }).click();
    await dialog.getByText('archivado').first().waitFor();
    await visitor.expectUnbroken();
  });

  it('is deleted, its records are read and removed by then, and what keeps it is counted', async () => {
    const { id, slug, name } = await aDefinition();
    const record = await bench.made(`/v1/crm/objects/${slug}`, { values: { plate: 'KLMN45' } });
    const visitor = await bench.ownerAt(`objects?open=${id}`);
    const { page, dialog } = visitor;
    await dialog.getByRole('button', { name: 'Eliminar', exact: true }).click();
    await page.getByText(`Se eliminó ${name}`).first().waitFor();
    await visitor.open(`objects?deleted=true&open=${id}`);
    await dialog.getByRole('button', { name: 'Eliminar definitivamente' }).click();
    await dialog.getByRole('button', { name: 'Eliminar definitivamente' }).click();
    await dialog.getByRole('alert').waitFor();
    await visitor.open(`objects/${id}?open=${record}`);
    await dialog.getByRole('heading', { name: 'KLMN45' }).waitFor();
    expect(await dialog.getByRole('button', { name: 'Editar' }).count()).toBe(0);
    await dialog.getByRole('button', { name: 'Eliminar', exact: true }).click();
    await visitor.open(`objects/${id}?deleted=true&open=${record}`);
    await dialog.getByRole('button', { name: 'Eliminar definitivamente' }).click();
    await dialog.getByRole('button', { name: 'Eliminar definitivamente' }).click();
    await page.getByText('KLMN45 se eliminó definitivamente').first().waitFor();
    expectStatus(await bench.tenant.admin.call('DELETE', `${DEFINITIONS}/${id}/purge`), 204);
  });
});

describe('a record', () => {
  it('is written with a value of every type, changed, filtered, sorted, and found at its contact', async () => {
    const garage = await aDefinition();
    const parked = await bench.made(`/v1/crm/objects/${garage.slug}`, { values: { plate: 'GARAJE-1' } });
    const { slug, name } = await aDefinition(garage.id);
    const contact = await bench.contact();
    const visitor = await bench.ownerAt(`objects/${slug}?open=new`);
    const { page, dialog } = visitor;
    await dialog.getByRole('textbox', { name: 'Patente' }).fill(`K${MARKUP}`);
    await dialog.getByLabel('Año').fill('2024');
    await dialog.getByLabel('Precio').fill('9.5');
    await dialog.getByLabel('Vendido').selectOption('true');
    await dialog.getByLabel('Comprado').fill('2026-02-28');
    await dialog.getByLabel('Visto').fill('2026-03-01T10:30');
    await dialog.getByLabel('Color').selectOption('red');
    const owners = dialog.getByRole('group', { name: 'Dueño' });
    await owners.getByRole('searchbox').fill(contact.email);
    await owners.getByRole('button', { name: new RegExp(contact.email) }).click();
    await dialog.getByRole('button', { name: 'GARAJE-1' }).click();
    await dialog.getByRole('button', { name: 'Crear registro' }).click();
    await dialog.getByRole('heading', { name: `K${MARKUP}` }).waitFor();
    await dialog.getByRole('link', { name: contact.email }).waitFor();
    await dialog.getByRole('link', { name: 'GARAJE-1' }).waitFor();
    const { body } = await bench.tenant.admin.get<{ data: { id: string; values: object }[] }>(
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

    await dialog.getByRole('button', { name: 'Editar', exact: true }).click();
    await dialog.getByLabel('Año').fill('1800');
    await dialog.getByLabel('Año').evaluate((input) => input.closest('form')?.setAttribute('novalidate', ''));
    await dialog.getByRole('button', { name: 'Guardar registro' }).click();
    await dialog.getByRole('alert').waitFor();
    await dialog.getByLabel('Año').fill('2025');
    const path = `/v1/crm/objects/${slug}/${body.data[0]?.id ?? ''}`;
    expectStatus(await bench.tenant.admin.patch(path, { values: { year: 2023 } }), 200);
    await dialog.getByRole('button', { name: 'Guardar registro' }).click();
    await dialog.getByText('2023').waitFor();
    await dialog.getByRole('button', { name: 'Guardar mi versión' }).click();
    await dialog.getByText('2025').first().waitFor();
    await visitor.expectUnbroken();

    await bench.made(`/v1/crm/objects/${slug}`, { values: { plate: 'OTHER', year: 1999 } });
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
    await dialog.getByRole('heading', { name: `K${MARKUP}` }).waitFor();
    await visitor.expectUnbroken();
  });

  it('that others refer to is not removed, and says so', async () => {
    const garage = await aDefinition();
    const parked = await bench.made(`/v1/crm/objects/${garage.slug}`, { values: { plate: 'GARAJE-2' } });
    const vehicle = await aDefinition(garage.id);
    await bench.made(`/v1/crm/objects/${vehicle.slug}`, { values: { plate: 'A', garage: parked } });
    const visitor = await bench.ownerAt(`objects/${garage.slug}?open=${parked}`);
    const { page, dialog } = visitor;
    await dialog.getByRole('button', { name: 'Eliminar', exact: true }).click();
    await page.getByRole('button', { name: 'Deshacer' }).click();
    await page.getByRole('cell', { name: 'GARAJE-2' }).waitFor();
    expectStatus(await bench.tenant.admin.call('DELETE', `/v1/crm/objects/${garage.slug}/${parked}`), 204);
    await visitor.open(`objects/${garage.slug}?deleted=true&open=${parked}`);
    await dialog.getByRole('button', { name: 'Eliminar definitivamente' }).click();
    await dialog.getByRole('button', { name: 'Eliminar definitivamente' }).click();
    await dialog.getByRole('alert').waitFor();
  });
});

describe('who may only read', () => {
  it('finds nothing to press, and who may not is not led there', async () => {
    const { slug, id } = await aDefinition();
    const record = await bench.made(`/v1/crm/objects/${slug}`, { values: { plate: 'READ' } });
    const reader = await bench.holderOf('crm.objects.read');
    for (const path of [`objects?open=${id}`, `objects/${slug}?open=${record}`]) {
      await reader.open(path);
      await reader.dialog.getByText('Patente').first().waitFor();
      const buttons = reader.page.getByRole('button', { name: /^(Editar|Eliminar|Nuev[ao])/ });
      expect(await buttons.count()).toBe(0);
    }
    await reader.close();
    const other = await bench.holderOf('core.segments.read');
    const { menu } = other;
    await menu.getByRole('link', { name: 'Segmentos' }).waitFor();
    expect(await menu.getByRole('link', { name: 'Objetos' }).count()).toBe(0);
    await other.goTo('objects');
    await other.page.getByText('crm.objects.read').waitFor();
  });
});

describe('the pages', () => {
  itHasNothingToStumbleOver(bench, async () => {
    const { id, slug } = await aDefinition();
    const contact = await bench.contact();
    const values = { plate: `P-${slug}`, year: 2024, sold: false, colour: 'red', owner: contact.id };
    const record = await eventually(() => bench.made(`/v1/crm/objects/${slug}`, { values }));
    return [
      'objects',
      'objects?open=new',
      `objects?open=${id}`,
      `objects/${slug}`,
      `objects/${slug}?open=new`,
      `objects/${slug}?open=${record}`,
      `contacts/${contact.id}/objects`,
    ];
  });
});
