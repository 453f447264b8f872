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
const CAMPAIGNS = '/v1/messaging/campaigns';

let bench: ConsoleBench;
let tenant: Tenant;
let owner: Staff;
let template: string;

beforeAll(async () => {
  bench = await ConsoleBench.start();
  tenant = await bench.platform.tenant();
  owner = await bench.staff(tenant);
  template = await made('/v1/messaging/templates', {
    name: `Oferta ${MARKUP}`,
    channel: 'email',
    default_locale: 'es',
    locales: { es: { subject: 'Oferta', html: '<p>Hola</p>' } },
  });
}, START_WITHIN_MS);
afterAll(() => bench.end(), END_WITHIN_MS);

/** In front of the page. */
const dialog = (page: Page) => page.locator('dialog[open]').last();

async function made(path: string, body: object): Promise<string> {
  const answer = await tenant.admin.post<{ id: string }>(path, body);
  expectStatus(answer, 201);
  return answer.body.id;
}

/** A list of so many contacts with an address, and one more that has none. */
async function aList(reachable: number): Promise<{ id: string; name: string }> {
  const name = `Invitados ${randomUUID().slice(0, 8)} ${MARKUP}`;
  const id = await made('/v1/crm/lists', { name });
  const contact_ids = [await made('/v1/core/contacts', { external_id: `customer-${randomUUID()}` })];
  for (let count = 0; count < reachable; count += 1)
    contact_ids.push(await made('/v1/core/contacts', { email: `${randomUUID()}@example.com` }));
  // Whose contacts were made this moment are asked about where they are not known yet.
  await eventually(async () =>
    expectStatus(await tenant.admin.post(`/v1/crm/lists/${id}/members`, { contact_ids }), 200),
  );
  return { id, name };
}

async function aCampaign(over: object = {}, reachable = 1): Promise<{ id: string; name: string }> {
  const name = `Campaña ${randomUUID().slice(0, 8)} ${MARKUP}`;
  const audience = { type: 'list', id: (await aList(reachable)).id };
  const body = { name, channel: 'email', template_id: template, audience, ...over };
  return { id: await made(CAMPAIGNS, body), name };
}

/** What customers and staff wrote is text: it made nothing, and the browser complained of nothing. */
async function expectUnbroken(visitor: Visitor): Promise<void> {
  expect(await visitor.page.title()).not.toBe('broken');
  expect(await visitor.page.locator('main img, main script, dialog img, dialog script').count()).toBe(0);
  expect(visitor.complaints).toEqual([]);
}

async function run({ page }: Visitor, contacts: string): Promise<void> {
  await dialog(page)
    .getByRole('button', { name: /^Ejecutar/ })
    .first()
    .click();
  await dialog(page)
    .getByRole('button', { name: `Ejecutar para ${contacts}` })
    .click();
}

describe('a campaign', () => {
  it('is written, says to how many it goes, is run, followed, and leads to its sends', async () => {
    const list = await aList(2);
    const name = `Primavera ${randomUUID().slice(0, 8)} ${MARKUP}`;
    const visitor = await bench.signedIn(owner);
    const { page } = visitor;
    await visitor.open('messages');
    await page.getByRole('link', { name: 'Campañas' }).click();
    await page.getByRole('button', { name: 'Nueva campaña' }).click();
    await dialog(page).getByLabel('Nombre', { exact: true }).fill(name);
    await dialog(page)
      .getByLabel('Plantilla', { exact: true })
      .selectOption({ label: `Oferta ${MARKUP}` });
    await dialog(page).getByLabel('Audiencia').selectOption('list');
    await dialog(page).getByLabel('Lista', { exact: true }).selectOption({ label: list.name });
    await dialog(page).getByText('Ahora hay 3 contactos.').waitFor();
    await dialog(page).getByLabel('Datos (JSON)').fill('{');
    await dialog(page).getByText('Esto aún no es un objeto JSON.').waitFor();
    await dialog(page).getByLabel('Datos (JSON)').fill('{"discount": 10}');
    await dialog(page).getByRole('button', { name: 'Crear la campaña' }).click();
    await dialog(page).getByRole('heading', { name }).waitFor();
    await run(visitor, '3 contactos');
    await dialog(page).getByText('3 de 3 listos').waitFor();
    await dialog(page).getByText('sin dirección para este canal: 1').waitFor();
    await dialog(page).getByText('completada').first().waitFor();
    await expectUnbroken(visitor);
    await dialog(page).getByRole('link', { name: 'Sus envíos' }).click();
    await page.getByText('Solo los de: una ejecución de una campaña').waitFor();
    await page.getByRole('row').filter({ hasText: 'enviado' }).nth(1).waitFor();
    expect(await page.getByRole('row').filter({ hasText: '@example.com' }).count()).toBe(2);
    await page.getByRole('row').filter({ hasText: 'enviado' }).first().click();
    await dialog(page).getByRole('link', { name: 'una campaña' }).click();
    await dialog(page).getByRole('heading', { name }).waitFor();
    await expectUnbroken(visitor);
    await visitor.close();
  });

  it('rests, goes on, and is run again where it may repeat', async () => {
    const { id } = await aCampaign({ paused: true, repeatable: true });
    const visitor = await bench.signedIn(owner);
    const { page } = visitor;
    await visitor.open(`messages/campaigns?open=${id}`);
    await run(visitor, '2 contactos');
    await dialog(page).getByText('en pausa').first().waitFor();
    await dialog(page).getByRole('button', { name: 'Reanudar' }).click();
    await dialog(page).getByText('2 de 2 listos').waitFor();
    await dialog(page).getByRole('button', { name: 'Ejecutar otra vez' }).waitFor();
    await run(visitor, '2 contactos');
    const sent = `/v1/messaging/sends?source_id=${id}&state=sent`;
    await eventually(async () => {
      const { body } = await tenant.admin.get<{ data: unknown[] }>(sent);
      expect(body.data).toHaveLength(2);
    });
    await expectUnbroken(visitor);
    await visitor.close();
  });

  it('is canceled while it rests, and nothing of it leaves', async () => {
    const { id } = await aCampaign({ paused: true });
    const visitor = await bench.signedIn(owner);
    const { page } = visitor;
    await visitor.open(`messages/campaigns?open=${id}`);
    await run(visitor, '2 contactos');
    await dialog(page).getByRole('button', { name: 'Cancelar lo que falta' }).click();
    await dialog(page)
      .getByText(/faltan? no reciben? nada/)
      .waitFor();
    await dialog(page).getByRole('button', { name: 'Cancelar lo que falta' }).click();
    await dialog(page).getByText('Esta campaña está eliminada.').waitFor();
    const { body } = await tenant.admin.get<{ data: unknown[] }>(
      `/v1/messaging/sends?source_id=${id}&state=sent`,
    );
    expect(body.data).toEqual([]);
    await expectUnbroken(visitor);
    await visitor.close();
  });

  it('that two change says what the other wrote, and lets one choose', async () => {
    const { id } = await aCampaign();
    const visitor = await bench.signedIn(owner);
    const { page } = visitor;
    await visitor.open(`messages/campaigns?open=${id}`);
    await dialog(page).getByRole('button', { name: 'Cambiar' }).click();
    const [mine, theirs] = [`Mía ${randomUUID()}`, `De otra persona ${randomUUID()}`];
    await dialog(page).getByLabel('Nombre', { exact: true }).fill(mine);
    expectStatus(await tenant.admin.patch(`${CAMPAIGNS}/${id}`, { name: theirs }), 200);
    await dialog(page).getByRole('button', { name: 'Guardar la campaña' }).click();
    await dialog(page).getByText(theirs).waitFor();
    await dialog(page).getByRole('button', { name: 'Guardar lo que escribí' }).click();
    await dialog(page).getByRole('heading', { name: mine }).waitFor();
    await visitor.close();
  });

  it('is only looked at by who may only read it', async () => {
    const { id } = await aCampaign();
    const reader = await bench.signedIn(await bench.staffWith(tenant, ['messaging.campaigns.read']));
    await reader.open(`messages/campaigns?open=${id}`);
    await dialog(reader.page).getByText('borrador').waitFor();
    expect(await reader.page.getByRole('button', { name: /Ejecutar|Eliminar|Cambiar|Nueva/ }).count()).toBe(
      0,
    );
    await reader.close();
  });
});

describe('deliverability', () => {
  it('is told for all, by campaign and for one, and leads to the sends behind it', async () => {
    const { id, name } = await aCampaign({}, 2);
    expectStatus(await tenant.admin.post(`${CAMPAIGNS}/${id}/run`), 202);
    const visitor = await bench.signedIn(owner);
    const { page } = visitor;
    const figures = page.getByRole('region', { name: 'Cifras' });
    await eventually(async () => {
      await visitor.open(`messages/deliverability?group_by=campaign&group=${id}`);
      await figures.getByText('2 entregados a un proveedor').waitFor({ timeout: 4_000 });
    });
    await figures.getByRole('heading', { name }).waitFor();
    await page.getByText('Como tabla').first().click();
    await page.getByRole('table', { name: 'Qué pasó con los mensajes' }).waitFor();
    await figures.getByRole('link', { name: 'Sus mensajes' }).click();
    await page.getByText('Solo los de: una campaña o regla').waitFor();
    await page.getByRole('row').filter({ hasText: 'enviado' }).nth(1).waitFor();
    expect(await page.getByRole('row').filter({ hasText: '@example.com' }).count()).toBe(2);
    await page.goBack();
    await page.getByRole('button', { name: 'Mostrar todos' }).click();
    await page.getByLabel('Comparar').selectOption('channel');
    await page.getByRole('row').filter({ hasText: 'correo' }).click();
    await figures.getByRole('heading', { name: 'correo' }).waitFor();
    expect(page.url()).toContain('group=email');
    await expectUnbroken(visitor);
    await visitor.open('messages/deliverability?from=2026-01-01&to=2026-12-31');
    await page.getByText('Se muestran a lo más 92 días a la vez.').waitFor();
    await visitor.open('messages/deliverability?from=2020-01-01&to=2020-01-02');
    await page.getByText('No se envió nada en estos días').waitFor();
    await visitor.close();
  });
});

describe('the pages', () => {
  it.each([
    { scheme: 'light', width: 1_440, locale: 'es-CL' },
    { scheme: 'dark', width: 360, locale: 'es-CL' },
    { scheme: 'light', width: 768, locale: 'en' },
    { scheme: 'dark', width: 1_440, locale: 'en' },
  ] as const)('have nothing to stumble over at $width px, $scheme, $locale', async (eyes) => {
    const { id } = await aCampaign();
    expectStatus(await tenant.admin.post(`${CAMPAIGNS}/${id}/run`), 202);
    const visitor = await bench.signedIn(await bench.staff(tenant, 'owner', eyes.locale), eyes);
    const paths = [
      'messages/campaigns',
      'messages/campaigns?open=new',
      `messages/campaigns?open=${id}`,
      'messages/deliverability',
      'messages/deliverability?group_by=recipient_domain&granularity=hour',
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
