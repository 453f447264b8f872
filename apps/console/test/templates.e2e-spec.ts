import { randomUUID } from 'node:crypto';
import {
  END_WITHIN_MS,
  expectStatus,
  START_WITHIN_MS,
  type Page,
  type Tenant,
} from '@customer-platform/testing';
import { ConsoleBench, type Staff } from './console.fixture.js';

const MARKUP = '<img src=x onerror="document.title=`broken`">';

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

describe('templates', () => {
  it('are compared with what they said before, looked at by night, tested, and written as before', async () => {
    const name = `Boletín ${randomUUID().slice(0, 8)}`;
    const made = await tenant.admin.post<{ id: string }>('/v1/messaging/templates', {
      name,
      channel: 'email',
      default_locale: 'es',
      locales: { es: { subject: 'Primero', html: `<p>uno</p>\n<img src="x">${MARKUP}` } },
    });
    expectStatus(made, 201);
    const path = `/v1/messaging/templates/${made.body.id}`;
    const changed = await tenant.admin.patch(path, {
      locales: { es: { subject: 'Segundo' } },
      publish: false,
    });
    expectStatus(changed, 200);
    const visitor = await bench.signedIn(owner);
    const { page } = visitor;
    await visitor.open(`messages/templates/${made.body.id}`);
    await page.getByText('-Primero').waitFor();
    await page.getByText('+Segundo').waitFor();
    await page.getByRole('button', { name: 'Mostrar la vista previa' }).click();
    await page.getByText('Una imagen sin texto alternativo').first().waitFor();
    await page.getByLabel('Como lo ve quien usa el modo oscuro').check();
    await page.locator('iframe[data-scheme="dark"]').waitFor();
    await page.getByRole('button', { name: 'Enviarme una prueba' }).click();
    await page.getByText('La prueba va en camino').first().waitFor();
    await page.getByRole('button', { name: 'Enviar esta versión: 2' }).click();
    await page.getByText('Desde ahora se envía la versión 2').first().waitFor();
    await page.getByRole('button', { name: 'Volver a escribir la versión 1' }).click();
    await dialog(page).getByRole('button', { name: 'Volver a escribir' }).click();
    await page.getByText('La versión 3 es un borrador').first().waitFor();
    await page.getByLabel('Asunto').and(page.locator('input[value="Primero"]')).waitFor();
    await visitor.open(`messages/templates/${made.body.id}?from=1&to=3`);
    await page.getByText('No hay diferencias.').waitFor();
    expect(await visitor.findings()).toEqual([]);
    await visitor.close();
  });
});
