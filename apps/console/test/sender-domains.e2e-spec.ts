import { randomUUID } from 'node:crypto';
import { DnsServer, eventually, expectStatus } from '@customer-platform/testing';
import { consoleBench, itHasNothingToStumbleOver } from './console.fixture.js';
import type { Visitor } from './visitor.fixture.js';

const DOMAINS = '/v1/messaging/sender-domains';

interface SenderDomain {
  id: string;
  domain: string;
  records: { purpose: string; name: string; value: string; required: boolean }[];
}

/** The only walk that has records published on the platform that all share. */
let dns: DnsServer;

const bench = consoleBench();
beforeAll(async () => {
  dns = await DnsServer.start(bench.platform.dnsPort);
});
afterAll(() => (dns as DnsServer | undefined)?.close());

const record = ({ dialog }: Visitor, name: string) => dialog.getByRole('group', { name, exact: true });
const aName = (): string => `mail-${randomUUID().slice(0, 8)}.example.com`;

async function aDomain(domain = aName()): Promise<SenderDomain> {
  const made = await bench.tenant.admin.post<SenderDomain>(DOMAINS, { domain });
  expectStatus(made, 201);
  return made.body;
}

/** Asks DNS until it says so: an answer that comes too late changes nothing. */
async function verifyUntil({ dialog }: Visitor, text: string): Promise<void> {
  await eventually(async () => {
    await dialog.getByRole('button', { name: 'Verificar ahora' }).click();
    await dialog.getByText(text).first().waitFor({ timeout: 4_000 });
  });
}

describe('a sender domain', () => {
  it('is added, told what is wrong with its records, verified, and its keys rotated', async () => {
    const name = aName();
    const visitor = await bench.ownerBackAt('messages');
    const { page, dialog } = visitor;
    await page.getByRole('main').getByRole('link', { name: 'Dominios de envío' }).click();
    await page.getByRole('button', { name: 'Agregar dominio' }).click();
    await dialog.getByLabel('Dominio', { exact: true }).fill('co.uk');
    await dialog.getByRole('button', { name: 'Agregar dominio' }).click();
    await dialog.getByText('public suffix').waitFor();
    await dialog.getByLabel('Dominio', { exact: true }).fill(name);
    await dialog.getByRole('button', { name: 'Agregar dominio' }).click();
    await dialog.getByRole('heading', { name, exact: true }).waitFor();

    const { body } = await bench.tenant.admin.get<{ data: SenderDomain[] }>(`${DOMAINS}?domain=${name}`);
    const records = body.data[0]?.records ?? [];
    const [ownership] = records;
    await dialog.getByRole('button', { name: 'Copiar el valor del registro: Propiedad' }).click();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(ownership?.value);
    await dialog.getByRole('button', { name: 'Copiar el nombre del registro: Propiedad' }).click();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(ownership?.name);

    dns.publish({ name: ownership?.name ?? '', value: 'customer-platform-sender=of-somebody-else' });
    await verifyUntil(visitor, 'Existe un registro con este nombre y otro valor.');
    await record(visitor, 'Propiedad').getByText('incorrecto').waitFor();
    await record(visitor, 'DKIM, clave de firma').getByText('falta', { exact: true }).waitFor();
    dns.withdraw({ name: ownership?.name ?? '' });
    for (const each of records) dns.publish(each);
    await verifyUntil(visitor, 'El correo de este dominio va firmado.');
    await record(visitor, 'Propiedad').getByText('encontrado').waitFor();

    await dialog.getByRole('button', { name: 'Rotar claves DKIM' }).click();
    await dialog.getByRole('button', { name: 'Rotar claves DKIM' }).click();
    await record(visitor, 'DKIM, próxima clave').first().waitFor();
  });

  it('that loses a required record says since when, and until when mail still leaves', async () => {
    const { id, records } = await aDomain();
    for (const each of records) dns.publish(each);
    const visitor = await bench.ownerBackAt(`messages/sender-domains?open=${id}`);
    await verifyUntil(visitor, 'El correo de este dominio va firmado.');
    dns.withdraw({ name: records[0]?.name ?? '' });
    await verifyUntil(visitor, 'No se encuentra un registro obligatorio.');
    await visitor.dialog.getByText('Con problemas desde').waitFor();
    await visitor.dialog.getByText('verificado, con problemas').waitFor();
  });

  it('is deleted, taken back, deleted and removed for good, and found by its filters', async () => {
    const { id, domain } = await aDomain();
    const other = await aDomain();
    const visitor = await bench.ownerBackAt(`messages/sender-domains?domain=${domain}&open=${id}`);
    const { page, dialog } = visitor;
    await dialog.getByRole('button', { name: 'Eliminar' }).click();
    await page.getByRole('button', { name: 'Deshacer' }).click();
    await visitor.row(domain).getByText('pendiente').waitFor();
    expect(await visitor.row(other.domain).count()).toBe(0);
    expectStatus(await bench.tenant.admin.call('DELETE', `${DOMAINS}/${id}`), 204);
    await visitor.open(`messages/sender-domains?domain=${domain}`);
    await page.getByText('Nada coincide con estos filtros').waitFor();
    await page.getByLabel('Incluir eliminados').check();
    await visitor.row(domain).click();
    await dialog.getByRole('button', { name: 'Eliminar definitivamente' }).click();
    await dialog.getByRole('button', { name: 'Eliminar definitivamente' }).click();
    await page.getByText(`${domain} se eliminó definitivamente`).first().waitFor();
    expectStatus(await bench.tenant.admin.get(`${DOMAINS}/${id}`), 404);
  });

  it('is only looked at by who may only read it', async () => {
    const { id } = await aDomain();
    const reader = await bench.holderOf('messaging.domains.read');
    const { page, menu } = reader;
    await menu.getByRole('link', { name: 'Mensajes' }).click();
    await reader.isAt('Dominios de envío');
    await reader.open(`messages/sender-domains?open=${id}`);
    await record(reader, 'Propiedad').waitFor();
    expect(await page.getByRole('button', { name: /Verificar|Rotar|Eliminar|Quitar|Agregar/ }).count()).toBe(
      0,
    );
  });
});

describe('the pages', () => {
  itHasNothingToStumbleOver(bench, async () => {
    const { id } = await aDomain();
    return ['', '?open=new', `?open=${id}`, '?domain=none'].map(
      (search) => `messages/sender-domains${search}`,
    );
  });
});
