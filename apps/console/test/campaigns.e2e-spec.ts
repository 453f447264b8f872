import { randomUUID } from 'node:crypto';
import { eventually, expectStatus } from '@customer-platform/testing';
import { consoleBench, itHasNothingToStumbleOver } from './console.fixture.js';
import { MARKUP, type Visitor } from './visitor.fixture.js';

const CAMPAIGNS = '/v1/messaging/campaigns';

const bench = consoleBench();
let template: string;

beforeAll(async () => {
  template = await bench.made('/v1/messaging/templates', {
    name: `Oferta ${MARKUP}`,
    channel: 'email',
    default_locale: 'es',
    locales: { es: { subject: 'Oferta', html: '<p>Hola</p>' } },
  });
});

/** A list of so many contacts with an address, and one more that has none. */
async function aList(reachable: number): Promise<{ id: string; name: string }> {
  const name = `Invitados ${randomUUID().slice(0, 8)} ${MARKUP}`;
  const id = await bench.made('/v1/crm/lists', { name });
  const contact_ids = [await bench.made('/v1/core/contacts', { external_id: `customer-${randomUUID()}` })];
  for (let count = 0; count < reachable; count += 1)
    contact_ids.push(await bench.made('/v1/core/contacts', { email: `${randomUUID()}@example.com` }));
  // Whose contacts were made this moment are asked about where they are not known yet.
  await eventually(async () =>
    expectStatus(await bench.tenant.admin.post(`/v1/crm/lists/${id}/members`, { contact_ids }), 200),
  );
  return { id, name };
}

async function aCampaign(over: object = {}, reachable = 1): Promise<{ id: string; name: string }> {
  const name = `Campaña ${randomUUID().slice(0, 8)} ${MARKUP}`;
  const audience = { type: 'list', id: (await aList(reachable)).id };
  const body = { name, channel: 'email', template_id: template, audience, ...over };
  return { id: await bench.made(CAMPAIGNS, body), name };
}

async function run({ dialog }: Visitor, contacts: string): Promise<void> {
  await dialog
    .getByRole('button', { name: /^Ejecutar/ })
    .first()
    .click();
  await dialog.getByRole('button', { name: `Enviar a ${contacts}` }).click();
}

describe('a campaign', () => {
  it('is written, says to how many it goes, is run, followed, and leads to its sends', async () => {
    const list = await aList(2);
    const name = `Primavera ${randomUUID().slice(0, 8)} ${MARKUP}`;
    const visitor = await bench.ownerBackAt('messages');
    const { page, dialog } = visitor;
    await page.getByRole('main').getByRole('link', { name: 'Campañas' }).click();
    await page.getByRole('button', { name: 'Nueva campaña' }).click();
    await dialog.getByLabel('Nombre', { exact: true }).fill(name);
    await dialog.getByLabel('Plantilla', { exact: true }).selectOption({ label: `Oferta ${MARKUP}` });
    await dialog.getByLabel('Audiencia').selectOption('list');
    await dialog.getByLabel('Lista', { exact: true }).selectOption({ label: list.name });
    await dialog.getByText('Ahora tiene 3 contactos.').waitFor();
    await dialog.getByLabel('Datos (JSON)').fill('{');
    await dialog.getByText('No es un objeto JSON válido.').waitFor();
    await dialog.getByLabel('Datos (JSON)').fill('{"discount": 10}');
    await dialog.getByRole('button', { name: 'Crear campaña' }).click();
    await dialog.getByRole('heading', { name }).waitFor();
    await dialog.getByRole('button', { name: 'Ejecutar', exact: true }).click();
    await dialog.getByText('2 personas lo recibirán, de 3 contactos revisados.').waitFor();
    await dialog.getByText('sin dirección para este canal').waitFor();
    const message = dialog.getByRole('region', { name: 'Vista previa para una de esas personas' });
    await message.getByText('Oferta', { exact: true }).waitFor();
    await message.frameLocator('iframe').frameLocator('iframe').getByText('Hola').waitFor();
    await visitor.expectAccessible();
    await dialog.getByRole('button', { name: 'Enviar a 2 contactos' }).click();
    await dialog.getByText('3 de 3 procesados').waitFor();
    await dialog.getByText('sin dirección para este canal: 1').waitFor();
    await dialog.getByText('completada').first().waitFor();
    await visitor.expectUnbroken();
    await dialog.getByRole('link', { name: 'Sus envíos' }).click();
    await page.getByText('Filtrado por: ejecución de una campaña').waitFor();
    await visitor.row('enviado').nth(1).waitFor();
    expect(await visitor.row('@example.com').count()).toBe(2);
    await visitor.row('enviado').first().click();
    await dialog.getByRole('link', { name: 'una campaña' }).click();
    await dialog.getByRole('heading', { name }).waitFor();
    await visitor.expectUnbroken();
  });

  it('rests, goes on, and is run again where it may repeat', async () => {
    const { id } = await aCampaign({ paused: true, repeatable: true });
    const visitor = await bench.ownerBackAt(`messages/campaigns?open=${id}`);
    const { dialog } = visitor;
    await run(visitor, '1 contacto');
    await dialog.getByText('en pausa').first().waitFor();
    await dialog.getByRole('button', { name: 'Reanudar' }).click();
    await dialog.getByText('2 de 2 procesados').waitFor();
    await dialog.getByRole('button', { name: 'Ejecutar otra vez' }).waitFor();
    await run(visitor, '1 contacto');
    const sent = `/v1/messaging/sends?source_id=${id}&state=sent`;
    await eventually(async () => {
      const { body } = await bench.tenant.admin.get<{ data: unknown[] }>(sent);
      expect(body.data).toHaveLength(2);
    });
    await visitor.expectUnbroken();
  });

  it('is canceled while it rests, and nothing of it leaves', async () => {
    const { id } = await aCampaign({ paused: true });
    const visitor = await bench.ownerBackAt(`messages/campaigns?open=${id}`);
    const { dialog } = visitor;
    await run(visitor, '1 contacto');
    await dialog.getByRole('button', { name: 'Cancelar lo pendiente' }).click();
    await dialog.getByText(/no lo recibirán?/).waitFor();
    await dialog.getByRole('button', { name: 'Cancelar lo pendiente' }).click();
    await dialog.getByText('Esta campaña se eliminó.').waitFor();
    const { body } = await bench.tenant.admin.get<{ data: unknown[] }>(
      `/v1/messaging/sends?source_id=${id}&state=sent`,
    );
    expect(body.data).toEqual([]);
    await visitor.expectUnbroken();
  });

  it('whose message cannot be made says so before, and is not told as if all were well when all of it failed', async () => {
    const subject = 'Hola {{ data.nobody_gave_it }}';
    const broken = await bench.made('/v1/messaging/templates', {
      name: `Rota ${randomUUID().slice(0, 8)}`,
      channel: 'email',
      default_locale: 'es',
      locales: { es: { subject, html: '<p>Hola</p>' } },
    });
    const { id, name } = await aCampaign({ template_id: broken }, 2);
    const visitor = await bench.ownerBackAt(`messages/campaigns?open=${id}`);
    const { page, dialog } = visitor;
    await dialog.getByRole('button', { name: 'Ejecutar', exact: true }).click();
    await dialog.getByText('El mensaje no se puede generar').waitFor();
    await visitor.expectAccessible();
    await dialog.getByRole('button', { name: 'Enviar a 2 contactos' }).click();
    await dialog.getByText('Terminó y no le llegó a nadie.').waitFor();
    await dialog.getByText('completada: no llegó a nadie').waitFor();
    await visitor.expectAccessible();
    await visitor.open('messages/campaigns');
    await page.getByRole('row').filter({ hasText: name }).getByText('completada: no llegó a nadie').waitFor();
    await visitor.expectUnbroken();
  });

  it('that two change says what the other wrote, and lets one choose', async () => {
    const { id } = await aCampaign();
    const visitor = await bench.ownerBackAt(`messages/campaigns?open=${id}`);
    const { dialog } = visitor;
    await dialog.getByRole('button', { name: 'Editar' }).click();
    const [mine, theirs] = [`Mía ${randomUUID()}`, `De otra persona ${randomUUID()}`];
    await dialog.getByLabel('Nombre', { exact: true }).fill(mine);
    expectStatus(await bench.tenant.admin.patch(`${CAMPAIGNS}/${id}`, { name: theirs }), 200);
    await dialog.getByRole('button', { name: 'Guardar campaña' }).click();
    await dialog.getByText(theirs).waitFor();
    await dialog.getByRole('button', { name: 'Guardar mi versión' }).click();
    await dialog.getByRole('heading', { name: mine }).waitFor();
  });

  it('is only looked at by who may only read it', async () => {
    const { id } = await aCampaign();
    const reader = await bench.holderOf('messaging.campaigns.read');
    await reader.open(`messages/campaigns?open=${id}`);
    await reader.dialog.getByText('borrador').waitFor();
    expect(
      await reader.page.getByRole('button', { name: /Ejecutar|Enviar|Eliminar|Editar|Nueva/ }).count(),
    ).toBe(0);
  });
});

describe('deliverability', () => {
  it('is told for all, by campaign and for one, and leads to the sends behind it', async () => {
    const { id, name } = await aCampaign({}, 2);
    expectStatus(await bench.tenant.admin.post(`${CAMPAIGNS}/${id}/run`), 202);
    const visitor = await bench.ownerBackAt('');
    const { page } = visitor;
    const figures = page.getByRole('region', { name: 'Resumen' });
    await eventually(async () => {
      await visitor.open(`messages/deliverability?group_by=campaign&group=${id}`);
      await figures.getByText('2 entregados a un proveedor').waitFor({ timeout: 4_000 });
    });
    await figures.getByRole('heading', { name }).waitFor();
    await page.getByText('Ver como tabla').first().click();
    await page.getByRole('table', { name: 'Qué pasó con los mensajes' }).waitFor();
    await figures.getByRole('link', { name: 'Ver mensajes' }).click();
    await page.getByText('Filtrado por: campaña o regla').waitFor();
    await visitor.row('enviado').nth(1).waitFor();
    expect(await visitor.row('@example.com').count()).toBe(2);
    await page.goBack();
    await page.getByRole('button', { name: 'Mostrar todos' }).click();
    await page.getByLabel('Comparar por').selectOption('channel');
    await visitor.row('correo').click();
    await figures.getByRole('heading', { name: 'correo' }).waitFor();
    expect(page.url()).toContain('group=email');
    await visitor.expectUnbroken();
    await visitor.open('messages/deliverability?from=2026-01-01&to=2026-12-31');
    await page.getByText('Hasta 92 días a la vez.').waitFor();
    await visitor.open('messages/deliverability?from=2020-01-01&to=2020-01-02');
    await page.getByText('No se envió nada en este período').waitFor();
  });
});

describe('the pages', () => {
  itHasNothingToStumbleOver(bench, async () => {
    const { id } = await aCampaign();
    expectStatus(await bench.tenant.admin.post(`${CAMPAIGNS}/${id}/run`), 202);
    return [
      'messages/campaigns',
      'messages/campaigns?open=new',
      `messages/campaigns?open=${id}`,
      'messages/deliverability',
      'messages/deliverability?group_by=recipient_domain&granularity=hour',
    ];
  });
});
