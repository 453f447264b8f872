import { randomUUID } from 'node:crypto';
import { eventually, expectStatus } from '@customer-platform/testing';
import { consoleBench, itHasNothingToStumbleOver } from './console.fixture.js';

const bench = consoleBench();
const RUT = '12.345.678-5';

interface AuditRows {
  data: { action: string; reason: string | null }[];
}

/** Waits until the audit log has an act. */
async function audited(action: string, resourceId: string): Promise<void> {
  await eventually(async () => {
    const query = `action=${action}&resource_id=${resourceId}`;
    const { body } = await bench.tenant.admin.get<AuditRows>(`/v1/core/audit-log?${query}`);
    expect(body.data.length).toBeGreaterThan(0);
  });
}

async function merged(): Promise<{ keptId: string }> {
  const kept = await bench.contact({ first_name: 'Elena', last_name: 'Kept' });
  const other = await bench.contact({ first_name: 'Elena', last_name: 'Parted' });
  const body = { survivor_id: kept.id, merged_id: other.id };
  expectStatus(await bench.tenant.admin.post('/v1/core/contacts/merge', body), 200);
  return { keptId: kept.id };
}

describe('support, before a contact', () => {
  it('undoes a merge from its history, and sees that it was undone', async () => {
    const { keptId } = await merged();
    const visitor = await bench.ownerAt(`contacts/${keptId}/profile`);
    const { page, dialog } = visitor;
    const history = page.getByRole('region', { name: 'Historial de fusiones' });
    await history.getByRole('row', { name: /Elena Parted/ }).waitFor();
    await history.getByRole('button', { name: 'Deshacer fusión' }).click();
    await dialog.getByText('Elena Parted').waitFor();
    await dialog.getByText('Este contacto será').waitFor();
    await visitor.expectAccessible();
    await dialog.getByRole('textbox', { name: /Motivo/ }).fill('Son hermanas');
    await dialog.getByRole('button', { name: 'Deshacer fusión' }).click();
    await history.getByText('deshecha').waitFor();
  });

  it('enters a RUT with the contact, corrects it, and takes it away', async () => {
    const visitor = await bench.ownerAt('contacts?form=true');
    const { page, dialog } = visitor;
    await dialog.getByLabel('ID externo').fill(`customer-${randomUUID()}`);
    await dialog.getByLabel('Nombre').fill('Ximena');
    await dialog.getByLabel('Documento de identidad').fill('12.345.678-4');
    await dialog.getByRole('button', { name: 'Crear contacto' }).click();
    await dialog.locator('[aria-invalid=true]').waitFor();
    await dialog.getByLabel('Documento de identidad').fill(RUT);
    await dialog.getByRole('button', { name: 'Crear contacto' }).click();
    await visitor.isAt('Ximena');
    await page.getByRole('link', { name: 'Perfil', exact: true }).click();
    await page.getByText('***5678-5').waitFor();
    await page.getByRole('button', { name: 'Cambiar', exact: true }).click();
    await dialog.getByLabel('Documento de identidad').fill('11.111.111-1');
    await visitor.expectAccessible();
    await dialog.getByRole('button', { name: 'Guardar', exact: true }).click();
    await page.getByText('***1111-1').waitFor();
    await page.getByRole('button', { name: 'Cambiar', exact: true }).click();
    await dialog.getByRole('button', { name: 'Quitar', exact: true }).click();
    await page.getByRole('definition').getByRole('button', { name: 'Agregar', exact: true }).waitFor();
  });

  it('enters a RUT all the same where somebody else changed the contact meanwhile', async () => {
    const { id } = await bench.contact({ first_name: 'Yolanda' });
    const visitor = await bench.ownerAt(`contacts/${id}/profile`);
    const { page, dialog } = visitor;
    await page.getByRole('definition').getByRole('button', { name: 'Agregar', exact: true }).click();
    await dialog.getByLabel('Documento de identidad').fill('10.000.013-K');
    expectStatus(await bench.tenant.admin.patch(`/v1/core/contacts/${id}`, { last_name: 'Parra' }), 200);
    await dialog.getByRole('button', { name: 'Guardar', exact: true }).click();
    await dialog.getByText('Este contacto cambió').waitFor();
    await visitor.isAt('Yolanda Parra');
    await dialog.getByRole('button', { name: 'Guardar', exact: true }).click();
    await page.getByText('***0013-K').waitFor();
  });

  it('turns off what a person wants no more, and on again with a reason alone', async () => {
    const { id } = await bench.contact({ first_name: 'Paloma' });
    const visitor = await bench.ownerAt(`contacts/${id}/preferences`);
    const { page, dialog } = visitor;
    const marketing = page.getByRole('group', { name: 'Correo' }).getByRole('switch', { name: 'Marketing' });
    await marketing.click();
    await page.getByRole('group', { name: 'Correo' }).getByText('Rechazado').waitFor();
    await marketing.click();
    await dialog.getByText('Este contacto se dio de baja.').waitFor();
    await visitor.expectAccessible();
    await dialog.getByRole('textbox', { name: 'Motivo' }).fill('Lo pidió por teléfono');
    await dialog.getByRole('button', { name: 'Activar' }).click();
    await page.getByText('Rechazado').waitFor({ state: 'detached' });
    expect(await marketing.isChecked()).toBe(true);
    await eventually(async () => {
      const query = `action=messaging.preferences.update&resource_id=${id}`;
      const { body } = await bench.tenant.admin.get<AuditRows>(`/v1/core/audit-log?${query}`);
      expect(body.data.map(({ reason }) => reason)).toEqual(['Lo pidió por teléfono', null]);
    });
  });

  it('reads what it may not change', async () => {
    const { id } = await bench.contact({ first_name: 'Rita' });
    const visitor = await bench.holderOf('core.contacts.read', 'messaging.preferences.read');
    await visitor.open(`contacts/${id}/preferences`);
    const marketing = visitor.page.getByRole('switch', { name: 'Marketing' }).first();
    await marketing.waitFor();
    expect(await marketing.isDisabled()).toBe(true);
    await visitor.open(`contacts/${id}/profile`);
    await visitor.settled();
    const acts = visitor.page.getByRole('button', { name: /Agregar|Deshacer fusión/ });
    expect(await acts.count()).toBe(0);
  });
});

describe('who lifted a suppression', () => {
  it('is found in three clicks, and by name', async () => {
    const address = `${randomUUID()}@example.com`;
    await bench.made('/v1/messaging/suppressions', { channel: 'email', address, reason: 'complaint' });
    const visitor = await bench.ownerAt('messages/suppressions');
    const { page, dialog } = visitor;
    await visitor.row(address).getByRole('button', { name: 'Quitar' }).click();
    await dialog.getByRole('button', { name: 'Quitar' }).click();
    await visitor.row(address).waitFor({ state: 'detached' });
    await visitor.menu.getByRole('link', { name: 'Mensajes' }).click();
    await visitor.menu.getByRole('link', { name: 'Supresiones', exact: true }).click();
    await page.getByRole('combobox', { name: 'Mostrar' }).selectOption({ label: 'Quitadas' });
    await visitor.row(address).getByText('Ana Rojas').waitFor();
    const by = page.getByRole('combobox', { name: 'Quitada por' });
    await by.selectOption({ label: 'Ana Rojas (tú)' });
    await visitor.row(address).waitFor();
    await visitor.expectAccessible();
    expect(page.url()).toContain('lifted_by=');
  });
});

describe('the audit log', () => {
  it('says in words what was done, and is asked by who did it and what', async () => {
    const { id } = await bench.contact({ first_name: 'Teresa' });
    expectStatus(await bench.tenant.admin.patch(`/v1/core/contacts/${id}`, { last_name: 'Soto' }), 200);
    await audited('core.contacts.update', id);
    const visitor = await bench.ownerAt('audit');
    const { page, dialog } = visitor;
    await page.getByRole('combobox', { name: 'Acción' }).selectOption({ label: 'Contacto: cambio' });
    const row = page.getByRole('row', { name: /Contacto: cambio/ }).filter({ hasText: 'Teresa' });
    await row.click();
    await dialog.getByText('core.contacts.update').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('combobox', { name: 'Quién' }).selectOption({ label: 'Ana Rojas (tú)' });
  });
});

describe('an invitation without a role', () => {
  it('says so to who invites and to who comes', async () => {
    const email = `${randomUUID()}@example.com`;
    const visitor = await bench.ownerAt('organization/invitations?create=true');
    const { dialog } = visitor;
    await dialog.getByLabel('Correo', { exact: true }).fill(email);
    await dialog.getByText('Sin un rol puede entrar, pero no ve nada.').waitFor();
    await dialog.getByLabel('Idioma del correo').selectOption('es');
    await dialog.getByRole('button', { name: 'Enviar invitación' }).click();
    await visitor.row(email).getByText('sin rol').waitFor();
    const guest = await bench.visitor();
    await guest.page.goto(await bench.invitationLink(email));
    await guest.page.getByLabel('Nombre').fill('Inés Invitada');
    await guest.page.getByLabel('Contraseña').fill(bench.owner.password);
    await guest.page.getByRole('button', { name: 'Aceptar la invitación' }).click();
    await guest.page.getByText('Todavía no tienes un rol').waitFor();
    await guest.expectAccessible();
  });
});

describe('the pages of support', () => {
  itHasNothingToStumbleOver(bench, async () => {
    const { keptId } = await merged();
    return [
      `contacts/${keptId}/preferences`,
      `contacts/${keptId}/profile`,
      'messages/suppressions?lifted=true',
      'audit?action=core.contacts.merge',
    ];
  });
});
