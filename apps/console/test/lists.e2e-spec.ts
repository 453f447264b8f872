import { randomUUID } from 'node:crypto';
import { eventually, expectStatus } from '@customer-platform/testing';
import { consoleBench, itHasNothingToStumbleOver } from './console.fixture.js';
import { MARKUP } from './visitor.fixture.js';

const LISTS = '/v1/crm/lists';

const bench = consoleBench();

async function aList(over: object = {}): Promise<{ id: string; name: string }> {
  const name = `Invitados ${randomUUID().slice(0, 8)}`;
  return { id: await bench.made(LISTS, { name, ...over }), name };
}

async function put(list: string, contact_ids: readonly string[]): Promise<void> {
  // Whose contacts were made this moment are asked about where they are not known yet.
  await eventually(async () =>
    expectStatus(await bench.tenant.admin.post(`${LISTS}/${list}/members`, { contact_ids }), 200),
  );
}

describe('a list of contacts', () => {
  it('is made, filled, emptied, renamed, deleted and restored', async () => {
    const { externalId, email } = await bench.contact({ first_name: 'Rosa' });
    const name = `Estreno ${randomUUID().slice(0, 8)} ${MARKUP}`;
    const visitor = await bench.ownerAt('contacts');
    const { page, dialog } = visitor;
    await page.getByRole('list', { name: 'Páginas de esta sección' }).getByText('Listas').click();
    await visitor.isAt('Listas');
    await page.getByRole('button', { name: 'Nueva lista' }).click();
    await dialog.getByLabel('Nombre', { exact: true }).fill(name);
    await dialog.getByLabel('Descripción').fill('Quienes vienen al estreno');
    await dialog.getByRole('button', { name: 'Crear lista' }).click();

    const panel = page.getByRole('dialog', { name, exact: true });
    await panel.getByText('Esta lista todavía no tiene miembros').waitFor();
    await panel.getByRole('searchbox').fill(externalId);
    await panel.getByRole('button', { name: email }).click();
    await page.getByText(`Se agregó a ${name}`).first().waitFor();
    await panel.getByRole('row').filter({ hasText: 'Rosa' }).filter({ hasText: 'Ana Rojas' }).waitFor();
    // Once is enough, and that is said.
    await panel.getByRole('button', { name: email }).click();
    await page.getByText(`Ya está en ${name}`).first().waitFor();
    await visitor.expectAccessible();
    await panel.getByRole('button', { name: 'Quitar de la lista' }).click();
    await panel.getByText('Esta lista todavía no tiene miembros').waitFor();

    const renamed = `${name} 2`;
    await panel.getByRole('button', { name: 'Editar' }).click();
    await panel.getByLabel('Nombre', { exact: true }).fill(renamed);
    await panel.getByRole('button', { name: 'Guardar' }).click();
    const again = page.getByRole('dialog', { name: renamed, exact: true });
    await again.getByRole('button', { name: 'Eliminar' }).click();
    await again.waitFor({ state: 'hidden' });
    await page.getByText(`Se eliminó ${renamed}`).first().waitFor();
    await page.getByText('Incluir eliminadas').click();
    await visitor.row(renamed).filter({ hasText: 'eliminada' }).click();
    await again.getByRole('button', { name: 'Restaurar' }).click();
    await again.getByRole('button', { name: 'Eliminar', exact: true }).waitFor();
    await visitor.expectUnbroken();
  });

  it('shows its members page by page, and on a contact the way to it', async () => {
    const { id, name } = await aList();
    const contacts = await Promise.all(
      Array.from({ length: 60 }, (_, at) => bench.contact({ first_name: `Nombre ${at}` })),
    );
    const [first] = contacts;
    await put(id, [first?.id ?? '']);
    await put(
      id,
      contacts.map((contact) => contact.id),
    );
    const visitor = await bench.ownerAt(`contacts/${first?.id ?? ''}/profile`);
    const { page } = visitor;
    await page.getByRole('link', { name }).click();
    const panel = page.getByRole('dialog', { name });
    const table = panel.getByRole('region', { name: 'Miembros' });
    await table.getByRole('row').nth(5).waitFor();
    // The first that was added is on the last page.
    await eventually(async () => {
      await table.evaluate((region) => region.scrollTo({ top: region.scrollHeight }));
      expect(await table.getByText('Nombre 0', { exact: true }).count()).toBe(1);
    });
  });

  it('is only read by who may only read it', async () => {
    const { id, name } = await aList();
    const { id: contact } = await bench.contact({ first_name: 'Elena' });
    await put(id, [contact]);
    const visitor = await bench.holderOf('core.contacts.read', 'crm.lists.read');
    const { page, dialog } = visitor;
    await visitor.open(`contacts/lists?open=${id}`);
    await dialog.getByText('Elena').waitFor();
    for (const act of ['Editar', 'Eliminar', 'Quitar de la lista'])
      expect([act, await dialog.getByRole('button', { name: act }).count()]).toEqual([act, 0]);
    expect(await dialog.getByRole('searchbox').count()).toBe(0);
    await page.keyboard.press('Escape');
    await visitor.row(name).waitFor();
    expect(await page.getByRole('button', { name: 'Nueva lista' }).count()).toBe(0);
    const other = await bench.holderOf('core.contacts.read');
    await other.open('contacts');
    await other.page.getByRole('list', { name: 'Páginas de esta sección' }).waitFor();
    expect(await other.page.getByRole('link', { name: 'Listas' }).count()).toBe(0);
    await other.goTo('contacts/lists');
    await other.page.getByText('crm.lists.read').waitFor();
  });

  it('keeps both, where somebody else changed another field meanwhile', async () => {
    const { id, name } = await aList();
    const visitor = await bench.ownerAt(`contacts/lists?open=${id}`);
    const { dialog } = visitor;
    await dialog.getByRole('button', { name: 'Editar' }).click();
    await dialog.getByLabel('Descripción').fill('Los de siempre');
    expectStatus(await bench.tenant.admin.patch(`${LISTS}/${id}`, { name: `${name} 2` }), 200);
    await dialog.getByRole('button', { name: 'Guardar' }).click();
    await dialog.getByLabel('Descripción').waitFor({ state: 'detached' });
    const { body } = await bench.tenant.admin.get<{ name: string; description: string }>(`${LISTS}/${id}`);
    expect([body.name, body.description]).toEqual([`${name} 2`, 'Los de siempre']);
  });
});

describe('the pages of lists', () => {
  itHasNothingToStumbleOver(bench, async () => {
    const { id } = await aList({ name: `${'W'.repeat(60)} ${randomUUID()}`, description: 'x'.repeat(1_000) });
    const { id: contact } = await bench.contact({ first_name: 'X'.repeat(100) });
    await put(id, [contact]);
    const { id: gone } = await aList();
    expectStatus(await bench.tenant.admin.delete(`${LISTS}/${gone}`), 204);
    return [
      'contacts/lists',
      'contacts/lists?name=nothing',
      'contacts/lists?open=new',
      `contacts/lists?open=${id}`,
      `contacts/lists?deleted=true&open=${gone}`,
    ];
  });
});
