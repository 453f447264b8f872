import { randomUUID } from 'node:crypto';
import { eventually, expectStatus } from '@customer-platform/testing';
import { consoleBench } from './console.fixture.js';
import type { Visitor } from './visitor.fixture.js';

const bench = consoleBench();

/** Goes to Home by the menu, and keeps what was written. */
async function leave({ page, menu }: Visitor): Promise<void> {
  await menu.getByRole('link', { name: 'Inicio' }).click();
  await page.getByRole('button', { name: 'Salir y conservarlo' }).click();
  await page.waitForURL(/\/o\/[^/]+$/);
}

/** Waits until what is around the page is there, which hears what is typed. */
async function aroundOf({ page }: Visitor): Promise<void> {
  await page
    .getByRole('list', { name: 'Páginas de esta sección' })
    .or(page.getByRole('navigation', { name: 'Ruta a esta página' }))
    .first()
    .waitFor();
}

const OLD = 'Escribiste esto antes y no lo guardaste.';

describe('what was written and not saved, where one keeps it', () => {
  it('is in the form of a segment when one comes back, with its conditions, until it is saved', async () => {
    const visitor = await bench.ownerAt('segments/new');
    const { page } = visitor;
    await aroundOf(visitor);
    const name = `Fieles ${randomUUID().slice(0, 8)}`;
    await page.getByLabel('Nombre', { exact: true }).fill(name);
    await page.getByRole('button', { name: 'Evento', exact: true }).click();
    const event = page.getByLabel('Nombre del evento');
    await event.fill('compra');
    await leave(visitor);
    await page.evaluate(() => window.history.back());
    await page.getByText(OLD).waitFor();
    expect(await page.getByLabel('Nombre', { exact: true }).inputValue()).toBe(name);
    expect(await event.inputValue()).toBe('compra');
    await visitor.expectAccessible();
    // A further condition is another one than those from before.
    await page.getByRole('button', { name: 'Evento', exact: true }).click();
    expect(await event.count()).toBe(2);
    await event.last().fill('visita');
    expect(await event.first().inputValue()).toBe('compra');
    await page.getByRole('button', { name: 'Crear segmento' }).click();
    await visitor.isAt(name);
    await visitor.menu.getByRole('link', { name: 'Segmentos' }).click();
    await page.getByRole('link', { name: 'Nuevo segmento' }).click();
    await page.getByLabel('Nombre', { exact: true }).waitFor();
    expect(await page.getByLabel('Nombre', { exact: true }).inputValue()).toBe('');
    expect(await page.getByText(OLD).count()).toBe(0);
  });

  it('changes what was read before it: what somebody else has changed since is kept, too', async () => {
    const name = `Bienvenida ${randomUUID().slice(0, 8)}`;
    const id = await bench.made('/v1/messaging/templates', {
      name,
      channel: 'email',
      default_locale: 'es',
      locales: { es: { subject: 'Hola', html: '<p>Hola.</p>' } },
    });
    const visitor = await bench.ownerAt(`messages/templates/${id}`);
    const { page } = visitor;
    await aroundOf(visitor);
    await page.getByLabel('Asunto').fill('Buenos días');
    await leave(visitor);
    const renamed = `${name} 2`;
    expectStatus(await bench.tenant.admin.patch(`/v1/messaging/templates/${id}`, { name: renamed }), 200);
    await page.evaluate(() => window.history.back());
    await page.getByText(OLD).waitFor();
    expect(await page.getByLabel('Asunto').inputValue()).toBe('Buenos días');
    await page.getByRole('button', { name: 'Guardar plantilla' }).click();
    await visitor.isAt(renamed);
    await eventually(async () => {
      const { body } = await bench.tenant.admin.get<{ locales: { es: { subject: string } }; name: string }>(
        `/v1/messaging/templates/${id}`,
      );
      expect([body.name, body.locales.es.subject]).toEqual([renamed, 'Buenos días']);
    });
    // Saved, it is kept no longer.
    await visitor.menu.getByRole('link', { name: 'Inicio' }).click();
    await visitor.isAt(bench.tenant.slug);
    await page.evaluate(() => window.history.back());
    await page.getByLabel('Asunto').waitFor();
    expect(await page.getByText(OLD).count()).toBe(0);
  });

  it('is in the panel of a campaign that was closed, is discarded there, and canceled for good', async () => {
    const visitor = await bench.ownerAt('messages/campaigns?open=new');
    const { page, dialog } = visitor;
    await aroundOf(visitor);
    const name = dialog.getByLabel('Nombre', { exact: true });
    await name.fill('Navidad');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Salir y conservarlo' }).click();
    await page.waitForURL('**/messages/campaigns');
    await page.getByRole('button', { name: 'Nueva campaña' }).click();
    expect(await name.inputValue()).toBe('Navidad');
    await visitor.expectAccessible();
    await dialog.getByRole('button', { name: 'Descartarlo' }).click();
    expect(await name.inputValue()).toBe('');
    await name.fill('Pascua');
    await dialog.getByRole('button', { name: 'Cancelar' }).click();
    await page.getByRole('button', { name: 'Nueva campaña' }).click();
    expect(await name.inputValue()).toBe('');
  });

  it('is on the page of its contact alone, in no storage, and gone where one discards it', async () => {
    const [one, other] = [await bench.contact(), await bench.contact()];
    const visitor = await bench.ownerAt(`contacts/${one.id}/notes`);
    const { page } = visitor;
    await aroundOf(visitor);
    const note = page.getByLabel('Escribe una nota');
    await note.fill('Llamar el lunes');
    await leave(visitor);
    const stored = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]));
    expect(stored).not.toContain('lunes');
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Buscar' }).fill(other.externalId);
    await page.getByRole('option').filter({ hasText: other.email }).click();
    await page.waitForURL(`**/contacts/${other.id}`);
    await page.getByRole('link', { name: 'Notas', exact: true }).click();
    expect(await note.inputValue()).toBe('');
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Buscar' }).fill(one.externalId);
    await page.getByRole('option').filter({ hasText: one.email }).click();
    await page.waitForURL(`**/contacts/${one.id}`);
    await page.getByRole('link', { name: 'Notas', exact: true }).click();
    await page.getByText(OLD).waitFor();
    expect(await note.inputValue()).toBe('Llamar el lunes');
    await note.fill('Llamar el martes');
    await visitor.menu.getByRole('link', { name: 'Inicio' }).click();
    await page.getByRole('button', { name: 'Descartar', exact: true }).click();
    await visitor.isAt(bench.tenant.slug);
    await page.evaluate(() => window.history.back());
    await note.waitFor();
    expect(await note.inputValue()).toBe('');
  });

  it('goes with a sign-out only after a question', async () => {
    const { id } = await bench.contact();
    const visitor = await bench.ownerAt(`contacts/${id}/notes`);
    const { page } = visitor;
    await aroundOf(visitor);
    await page.getByLabel('Escribe una nota').fill('Llamar el lunes');
    await leave(visitor);
    await page.getByRole('button', { name: bench.tenant.slug }).click();
    await page.getByRole('menuitem', { name: 'Cerrar sesión' }).click();
    const question = page.getByRole('dialog', { name: '¿Descartar lo que escribiste?' });
    expect(await question.getByRole('button', { name: 'Salir y conservarlo' }).count()).toBe(0);
    await question.getByRole('button', { name: 'Seguir editando' }).click();
    await visitor.isAt(bench.tenant.slug);
  });
});
