import { randomUUID } from 'node:crypto';
import {
  DnsServer,
  END_WITHIN_MS,
  eventually,
  expectStatus,
  START_WITHIN_MS,
  type Page,
  type Tenant,
} from '@customer-platform/testing';
import { ConsoleBench, type Staff, type Visitor } from './console.fixture.js';

const DOMAINS = '/v1/messaging/sender-domains';

interface SenderDomain {
  id: string;
  domain: string;
  records: { purpose: string; name: string; value: string; required: boolean }[];
}

let dns: DnsServer;
let bench: ConsoleBench;
let tenant: Tenant;
let owner: Staff;

beforeAll(async () => {
  dns = await DnsServer.start();
  bench = await ConsoleBench.start({ messaging: { SENDER_DNS_SERVERS: dns.address } });
  tenant = await bench.platform.tenant();
  owner = await bench.staff(tenant);
}, START_WITHIN_MS);
afterAll(async () => {
  await bench.end();
  await dns.close();
}, END_WITHIN_MS);

/** In front of the page. */
const dialog = (page: Page) => page.locator('dialog[open]').last();
const record = (page: Page, name: string) => dialog(page).getByRole('group', { name, exact: true });
const aName = (): string => `mail-${randomUUID().slice(0, 8)}.example.com`;

async function aDomain(domain = aName()): Promise<SenderDomain> {
  const made = await tenant.admin.post<SenderDomain>(DOMAINS, { domain });
  expectStatus(made, 201);
  return made.body;
}

/** Asks DNS until it says so: an answer that comes too late changes nothing. */
async function verifyUntil({ page }: Visitor, text: string): Promise<void> {
  await eventually(async () => {
    await dialog(page).getByRole('button', { name: 'Verificar ahora' }).click();
    await dialog(page).getByText(text).first().waitFor({ timeout: 4_000 });
  });
}

describe('a sender domain', () => {
  it('is added, told what is wrong with its records, verified, and its keys rotated', async () => {
    const name = aName();
    const visitor = await bench.signedIn(owner);
    const { page } = visitor;
    await visitor.open('messages');
    await page.getByRole('link', { name: 'Dominios de envío' }).click();
    await page.getByRole('button', { name: 'Agregar un dominio' }).click();
    await dialog(page).getByLabel('Dominio', { exact: true }).fill('co.uk');
    await dialog(page).getByRole('button', { name: 'Agregar el dominio' }).click();
    await dialog(page).getByText('public suffix').waitFor();
    await dialog(page).getByLabel('Dominio', { exact: true }).fill(name);
    await dialog(page).getByRole('button', { name: 'Agregar el dominio' }).click();
    await dialog(page).getByRole('heading', { name, exact: true }).waitFor();

    const { body } = await tenant.admin.get<{ data: SenderDomain[] }>(`${DOMAINS}?domain=${name}`);
    const records = body.data[0]?.records ?? [];
    const [ownership] = records;
    await dialog(page).getByRole('button', { name: 'Copiar el valor del registro: Propiedad' }).click();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(ownership?.value);
    await dialog(page).getByRole('button', { name: 'Copiar el nombre del registro: Propiedad' }).click();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(ownership?.name);

    dns.publish({ name: ownership?.name ?? '', value: 'customer-platform-sender=of-somebody-else' });
    await verifyUntil(visitor, 'Hay un registro con ese nombre y otro valor.');
    await record(page, 'Propiedad').getByText('incorrecto').waitFor();
    await record(page, 'DKIM, la clave que firma').getByText('falta', { exact: true }).waitFor();
    dns.withdraw({ name: ownership?.name ?? '' });
    for (const each of records) dns.publish(each);
    await verifyUntil(visitor, 'El correo sale de este dominio, firmado.');
    await record(page, 'Propiedad').getByText('encontrado').waitFor();

    await dialog(page).getByRole('button', { name: 'Rotar las claves DKIM' }).click();
    await dialog(page).getByRole('button', { name: 'Rotar las claves DKIM' }).click();
    await record(page, 'DKIM, una clave que espera').first().waitFor();
    expect(visitor.complaints).toEqual([]);
    await visitor.close();
  });

  it('that loses a required record says since when, and until when mail still leaves', async () => {
    const { id, records } = await aDomain();
    for (const each of records) dns.publish(each);
    const visitor = await bench.signedIn(owner);
    await visitor.open(`messages/sender-domains?open=${id}`);
    await verifyUntil(visitor, 'El correo sale de este dominio, firmado.');
    dns.withdraw({ name: records[0]?.name ?? '' });
    await verifyUntil(visitor, 'Un registro requerido ya no se encuentra.');
    await dialog(visitor.page).getByText('Falla desde').waitFor();
    await dialog(visitor.page).getByText('verificado, pero falla').waitFor();
    await visitor.close();
  });

  it('is deleted, taken back, deleted and removed for good, and found by its filters', async () => {
    const { id, domain } = await aDomain();
    const other = await aDomain();
    const visitor = await bench.signedIn(owner);
    const { page } = visitor;
    await visitor.open(`messages/sender-domains?domain=${domain}&open=${id}`);
    await dialog(page).getByRole('button', { name: 'Eliminar' }).click();
    await page.getByRole('button', { name: 'Deshacer' }).click();
    await page.getByRole('row').filter({ hasText: domain }).getByText('pendiente').waitFor();
    expect(await page.getByRole('row').filter({ hasText: other.domain }).count()).toBe(0);
    expectStatus(await tenant.admin.call('DELETE', `${DOMAINS}/${id}`), 204);
    await visitor.open(`messages/sender-domains?domain=${domain}`);
    await page.getByText('Nada cumple estos filtros').waitFor();
    await page.getByLabel('También los eliminados').check();
    await page.getByRole('row').filter({ hasText: domain }).click();
    await dialog(page).getByRole('button', { name: 'Quitar para siempre' }).click();
    await dialog(page).getByRole('button', { name: 'Quitar para siempre' }).click();
    await page.getByText(`${domain} se quitó para siempre`).first().waitFor();
    expectStatus(await tenant.admin.get(`${DOMAINS}/${id}`), 404);
    expect(visitor.complaints).toEqual([]);
    await visitor.close();
  });

  it('is only looked at by who may only read it', async () => {
    const { id } = await aDomain();
    const reader = await bench.signedIn(await bench.staffWith(tenant, ['messaging.domains.read']));
    const { page } = reader;
    await page.getByRole('navigation', { name: 'Menú' }).getByRole('link', { name: 'Mensajes' }).click();
    await page.getByRole('heading', { level: 1, name: 'Dominios de envío' }).waitFor();
    await reader.open(`messages/sender-domains?open=${id}`);
    await record(page, 'Propiedad').waitFor();
    expect(await page.getByRole('button', { name: /Verificar|Rotar|Eliminar|Quitar|Agregar/ }).count()).toBe(
      0,
    );
    await reader.close();
  });
});

describe('the pages', () => {
  it.each([
    { scheme: 'light', width: 1_440, locale: 'es-CL' },
    { scheme: 'dark', width: 360, locale: 'es-CL' },
    { scheme: 'light', width: 768, locale: 'en' },
    { scheme: 'dark', width: 1_440, locale: 'en' },
  ] as const)('have nothing to stumble over at $width px, $scheme, $locale', async (eyes) => {
    const { id } = await aDomain();
    const visitor = await bench.signedIn(await bench.staff(tenant, 'owner', eyes.locale), eyes);
    for (const search of ['', '?open=new', `?open=${id}`, '?domain=none']) {
      await visitor.open(`messages/sender-domains${search}`);
      await visitor.page.waitForFunction(() => document.querySelector('[aria-busy="true"]') === null);
      expect([search, await visitor.findings()]).toEqual([search, []]);
      expect([search, await visitor.isTooWide()]).toEqual([search, false]);
    }
    expect(visitor.complaints).toEqual([]);
    await visitor.close();
  });
});
