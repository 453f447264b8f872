import { randomUUID } from 'node:crypto';
import { consoleBench } from './console.fixture.js';

const bench = consoleBench();

it('are tried, begun, followed to their end, and tell what was wrong', async () => {
  const mark = randomUUID().slice(0, 8);
  const rows = [`${mark}-1;Ana Ñandú;ana.${mark}@example.com`, `${mark}-2;<b>Luis</b>;=nothing`];
  const visitor = await bench.ownerBackAt('contacts');
  const { page, dialog } = visitor;
  await page.getByRole('main').getByRole('link', { name: 'Importaciones' }).click();
  await page.getByText('Aún no hay importaciones').waitFor();
  await page.getByRole('button', { name: 'Importar un archivo' }).click();
  await dialog.getByLabel('Archivo').setInputFiles({
    name: 'clientes.csv',
    mimeType: 'text/csv',
    buffer: Buffer.from(`Código;Nombre;Correo;Zona\n${rows.map((row) => `${row};sur`).join('\n')}\n`),
  });
  expect(await dialog.getByLabel('Código').inputValue()).toBe('external_id');
  expect(await dialog.getByLabel('Zona').inputValue()).toBe('attributes.zona');
  // What the API refuses stands at the column.
  await dialog.getByLabel('Zona').fill('nickname');
  await dialog.getByRole('button', { name: 'Probar sin importar' }).click();
  await dialog.getByText('There is no such field of a contact.').waitFor();
  await dialog.getByLabel('Zona').fill('');
  await dialog.getByRole('button', { name: 'Probar sin importar' }).click();
  await dialog.getByText('No se escribió nada.').waitFor();
  await dialog.getByText('invalid_format').first().waitFor();
  await visitor.expectAccessible();
  await dialog.getByRole('button', { name: 'Importar', exact: true }).click();
  await dialog.getByText('completada').first().waitFor();
  await dialog.getByText('invalid_format').first().waitFor();
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    dialog.getByRole('button', { name: 'Descargar todos como CSV' }).click(),
  ]);
  expect(file.suggestedFilename()).toMatch(/-errors\.csv$/);
  await visitor.expectAccessible();
  const answer = await bench.tenant.admin.get<{ data: { first_name: string }[] }>(
    `/v1/core/contacts?external_id=${mark}-1`,
  );
  expect(answer.body.data).toMatchObject([{ first_name: 'Ana Ñandú', source: 'import' }]);
  await visitor.close();
});
