import { randomUUID } from 'node:crypto';
import { END_WITHIN_MS, START_WITHIN_MS, type Page, type Tenant } from '@customer-platform/testing';
import { ConsoleBench, type Staff } from './console.fixture.js';

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

it('are tried, begun, followed to their end, and tell what was wrong', async () => {
  const mark = randomUUID().slice(0, 8);
  const rows = [`${mark}-1;Ana Ñandú;ana.${mark}@example.com`, `${mark}-2;<b>Luis</b>;=nothing`];
  const visitor = await bench.signedIn(owner);
  const { page } = visitor;
  await visitor.open('contacts');
  await page.getByRole('link', { name: 'Importaciones' }).click();
  await page.getByText('Aún no se importa ningún archivo').waitFor();
  await page.getByRole('button', { name: 'Importar un archivo' }).click();
  await dialog(page)
    .getByLabel('Archivo')
    .setInputFiles({
      name: 'clientes.csv',
      mimeType: 'text/csv',
      buffer: Buffer.from(`Código;Nombre;Correo;Zona\n${rows.map((row) => `${row};sur`).join('\n')}\n`),
    });
  expect(await dialog(page).getByLabel('Código').inputValue()).toBe('external_id');
  expect(await dialog(page).getByLabel('Zona').inputValue()).toBe('attributes.zona');
  // What the API refuses stands at the column.
  await dialog(page).getByLabel('Zona').fill('nickname');
  await dialog(page).getByRole('button', { name: 'Probar sin escribir' }).click();
  await dialog(page).getByText('There is no such field of a contact.').waitFor();
  await dialog(page).getByLabel('Zona').fill('');
  await dialog(page).getByRole('button', { name: 'Probar sin escribir' }).click();
  await dialog(page).getByText('No se escribió nada.').waitFor();
  await dialog(page).getByText('invalid_format').first().waitFor();
  expect(await visitor.findings()).toEqual([]);
  await dialog(page).getByRole('button', { name: 'Importar', exact: true }).click();
  await dialog(page).getByText('completa').first().waitFor();
  await dialog(page).getByText('invalid_format').first().waitFor();
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    dialog(page).getByRole('button', { name: 'Todos como CSV' }).click(),
  ]);
  expect(file.suggestedFilename()).toMatch(/-errors\.csv$/);
  expect(await visitor.findings()).toEqual([]);
  const answer = await tenant.admin.get<{ data: { first_name: string }[] }>(
    `/v1/core/contacts?external_id=${mark}-1`,
  );
  expect(answer.body.data).toMatchObject([{ first_name: 'Ana Ñandú', source: 'import' }]);
  await visitor.close();
});
