import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DatabaseFault, eventually, expectStatus } from '@customer-platform/testing';
import { anEvent, consoleBench, itHasNothingToStumbleOver } from './console.fixture.js';
import { MARKUP, type Visitor } from './visitor.fixture.js';

const bench = consoleBench();

/** The secret that a dialog shows once; says that one has it. */
async function takeSecret(visitor: Visitor, name: string): Promise<string> {
  const { page } = visitor;
  const dialog = page.getByRole('dialog', { name });
  const secret = (await dialog.getByRole('region').textContent()) ?? '';
  await visitor.expectNoEscape();
  await dialog.getByRole('button', { name: 'Ya lo copié' }).click();
  await dialog.waitFor({ state: 'hidden' });
  return secret;
}

describe('API keys', () => {
  it('are made with a role of their own, used, rotated, revoked, and refused within a second', async () => {
    const visitor = await bench.ownerBackAt('developers/keys');
    const { page } = visitor;
    await page.getByRole('button', { name: 'Crear clave' }).click();
    const form = page.getByRole('dialog');
    await form.getByLabel('Nombre', { exact: true }).fill('Tienda');
    await form.getByLabel('Rol', { exact: true }).selectOption('new');
    await form.getByLabel('Nombre del rol').fill('Solo eventos');
    await form.getByLabel('Enviar eventos').check();
    await form.getByRole('button', { name: 'Crear clave' }).click();
    const first = await takeSecret(visitor, 'Clave «Tienda»');
    const send = (key: string) =>
      bench.platform.as(key).post('/v1/core/track', anEvent('made_by_hand', 'key'));
    await eventually(async () => expectStatus(await send(first), 202));
    expectStatus(await bench.platform.as(first).get('/v1/core/contacts'), 403);

    await visitor.row('Tienda').getByRole('button', { name: 'Rotar' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Rotar' }).click();
    const second = await takeSecret(visitor, 'Clave nueva de «Tienda»');
    await eventually(async () => expectStatus(await send(second), 202));
    expectStatus(await send(first), 202);

    const row = visitor.row('Tienda').filter({ hasText: 'activa' });
    await row.getByRole('button', { name: 'Revocar' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revocar' }).click();
    await visitor.row('Tienda').filter({ hasText: 'revocada' }).waitFor();
    await eventually(async () => expectStatus(await send(second), 401));
  });
});

describe('dead letters', () => {
  it('are found from the first page, explained, and go through when they are replayed', async () => {
    const database = { query: <Row>(sql: string) => bench.platform.query<Row>('core', sql) };
    const fault = await DatabaseFault.in(database, {
      table: 'events',
      on: 'INSERT',
      when: `NEW.event = 'poison'`,
    });
    await bench.track('poison', MARKUP);
    const visitor = await bench.ownerBackAt('');
    const { page } = visitor;
    const finding = page.getByRole('link', { name: /eventos? fallidos? esperan?/ });
    await eventually(async () => {
      await page.reload();
      await finding.waitFor({ timeout: 3_000 });
    });
    await finding.click();
    await visitor.row(MARKUP).click();
    const panel = page.getByRole('dialog', { name: 'Evento fallido' });
    await panel.getByText('Ocurrió un error interno.').waitFor();
    await panel.getByRole('region', { name: 'Contenido' }).getByText('"poison"').waitFor();
    await fault.mend();
    await panel.getByRole('button', { name: 'Reprocesar' }).click();
    await panel.getByText('Se procesó al reprocesarlo.').waitFor();
    await visitor.expectUnbroken();
  });
});

describe('webhook endpoints', () => {
  it('are made with a secret shown once, switched off with its reason, changed, deleted and taken back', async () => {
    const visitor = await bench.ownerBackAt('developers/webhooks');
    const { page } = visitor;
    await page.getByRole('button', { name: 'Agregar endpoint' }).click();
    const form = page.getByRole('dialog');
    await form.getByLabel('Nombre', { exact: true }).fill('Bodega');
    await form.getByLabel('URL').fill('http://127.0.0.1:9/hook');
    await form.getByLabel('Buscar un evento').fill('event.recorded');
    await form.getByLabel('core.event.recorded').check();
    await form.getByRole('button', { name: 'Agregar endpoint' }).click();
    expect(await takeSecret(visitor, 'Secreto de «Bodega»')).toMatch(/^whsec_/);
    await visitor.row('Bodega').click();
    const panel = page.getByRole('dialog', { name: 'Bodega' });
    await panel.getByRole('switch').click();
    await panel.getByText('Alguien lo desactivó.').waitFor();
    await panel.getByRole('button', { name: 'Eliminar' }).click();
    await page
      .getByRole('dialog', { name: 'Eliminar «Bodega»' })
      .getByRole('button', { name: 'Eliminar' })
      .click();
    await page.getByRole('button', { name: 'Deshacer' }).click();
    await visitor.row('Bodega').waitFor();
  });
});

describe('deliveries of a webhook endpoint', () => {
  let server: Server;
  let status: number;
  const heard: { id: unknown; signature: unknown; body: string }[] = [];
  beforeAll(async () => {
    server = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => {
        const { 'webhook-id': id, 'webhook-signature': signature } = request.headers;
        heard.push({ id, signature, body });
        response.writeHead(status).end();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterAll(() => new Promise((resolve) => server.close(resolve)));

  it('are seen with their tries and told again; a ping is sent, what failed is replayed, keys become a pair', async () => {
    const other = await bench.platform.tenant();
    status = 410;
    const { port } = server.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}/hook`;
    const hook = { name: 'Bodega', url, events: ['core.event.recorded'] };
    expectStatus(await other.admin.post('/v1/messaging/webhook-endpoints', hook), 201);
    expectStatus(await other.ingestion.post('/v1/core/track', anEvent('stocked', 'somebody')), 202);
    const visitor = await bench.signedIn(await bench.staff(other), { scheme: 'dark', width: 360 });
    const { page } = visitor;
    await visitor.open('developers/webhooks');
    await visitor.row('Bodega').click();
    const panel = page.getByRole('dialog', { name: 'Bodega', exact: true });
    await panel.getByText('Respondió 410: ya no quiere eventos.').waitFor();
    status = 204;
    await panel.getByRole('switch').press('Space');
    await panel.getByText('Activo').waitFor();
    const deliveries = panel.getByRole('region', { name: 'Entregas' });
    await deliveries.getByLabel('Estado').selectOption('failed');
    await deliveries.locator('summary').press('Enter');
    const tries = deliveries.getByRole('list', { name: 'Intentos' });
    await tries.getByText('HTTP 410 · rechazado').waitFor();
    await visitor.expectAccessible();
    await deliveries.getByLabel('Estado').selectOption('');
    const redeliver = deliveries.getByRole('button', { name: 'Reenviar', exact: true });
    if (!(await redeliver.isVisible())) await deliveries.locator('summary').press('Enter');
    await redeliver.press('Enter');
    await tries.getByText('HTTP 204').waitFor();
    await deliveries.locator('summary').getByText('entregado').waitFor();
    const [first, second] = heard;
    expect([second?.id, second?.body]).toEqual([first?.id, first?.body]);

    await panel.getByRole('button', { name: 'Enviar un ping' }).press('Enter');
    await panel.getByText('El endpoint aceptó el ping').waitFor();
    expect(heard.at(-1)?.body).toContain('"type":"ping"');

    await panel.getByRole('button', { name: 'Secreto nuevo' }).click();
    const rotation = page.getByRole('dialog', { name: 'Secreto nuevo', exact: true });
    await rotation.getByLabel('Firma').selectOption('v1a');
    await visitor.expectAccessible();
    await rotation.getByRole('button', { name: 'Secreto nuevo' }).click();
    const pair = page.getByRole('dialog', { name: 'Clave pública de «Bodega»' });
    await pair.getByText(/^whpk_/).waitFor();
    await pair.getByRole('button', { name: 'Listo' }).press('Enter');
    await panel.getByText('con un par de claves (v1a)').waitFor();

    await panel.getByRole('button', { name: 'Reenviar fallidas' }).click();
    const replay = page.getByRole('dialog', { name: 'Reenviar fallidas' });
    await replay.getByLabel('Desde').selectOption('d7');
    await replay.getByRole('button', { name: 'Reenviar fallidas' }).press('Enter');
    await page.getByText('Se están reenviando las entregas fallidas').waitFor();
    await panel.getByRole('button', { name: 'Enviar un ping' }).click();
    await eventually(() => expect(String(heard.at(-1)?.signature)).toMatch(/^v1a,\S+ v1,\S+$/));
  });
});

describe('event taxonomies', () => {
  it('are tried on stored events, installed with a mode and exceptions, and refuse from then on', async () => {
    const send = (): Promise<{ status: number }> =>
      bench.tenant.ingestion.post('/v1/core/track', anEvent('order_completed', 'somebody'));
    await bench.track('order_completed', 'ana');
    await eventually(async () => {
      const events = await bench.tenant.admin.get<{ data: unknown[] }>(
        '/v1/core/events?event=order_completed',
      );
      expect(events.body.data).toHaveLength(1);
    });
    const visitor = await bench.ownerBackAt('developers/taxonomies');
    const { page } = visitor;
    await visitor.row('ecommerce').click();
    const panel = page.getByRole('dialog', { name: 'ecommerce' });
    await panel.getByLabel('Eventos que no cumplen su esquema').selectOption('strict');
    await panel.getByText('coupon_denied').click();
    await panel.getByRole('region', { name: 'Ejemplo de coupon_denied' }).getByText('expired').waitFor();
    await panel.getByLabel('Cuando no cumple su esquema').selectOption('off');
    expect(await panel.getByRole('button', { name: 'Instalar' }).count()).toBe(0);
    await panel.getByRole('button', { name: 'Probar con eventos guardados' }).click();
    await panel.getByText('1 de 1 evento guardado no cumpliría su esquema').waitFor();
    await panel.getByText('1 de 1', { exact: true }).click();
    await panel.getByText('/properties/order_id').waitFor();
    await panel.getByRole('button', { name: 'Instalar' }).click();
    const row = visitor.row('ecommerce');
    await row.getByText('rechazar').waitFor();
    await row.getByText('1 excepción').waitFor();
    await eventually(async () => expect((await send()).status).toBe(400));
  });
});

describe('attributes', () => {
  it('are declared by keyboard, and given another type after a look at what that would lose', async () => {
    await bench.made('/v1/core/contacts', { external_id: 'sized', attributes: { size: '41' } });
    await bench.made('/v1/core/contacts', { external_id: 'unsized', attributes: { size: 'doce' } });
    const visitor = await bench.ownerBackAt('attributes');
    const { page } = visitor;
    await page.getByText('Aún no hay atributos definidos').waitFor();
    await page.getByRole('button', { name: 'Nuevo atributo' }).press('Enter');
    const form = page.getByRole('dialog', { name: 'Nuevo atributo' });
    await form.getByLabel('Clave').fill('size');
    await form.getByLabel('Clave').press('Enter');
    const panel = page.getByRole('dialog', { name: 'size', exact: true });
    await panel.getByRole('button', { name: 'Editar' }).press('Enter');
    await panel.getByLabel('Tipo').selectOption('integer');
    await panel.getByLabel('Valores permitidos').fill('41\n10.000');
    await panel.getByText('Se lee como 10.000.').waitFor();
    await panel.getByRole('button', { name: 'Guardar atributo' }).press('Enter');
    await panel.getByText('1 valor no se puede convertir y se perdería.').waitFor();
    await panel.getByText('doce').waitFor();
    await visitor.expectAccessible();
    await panel.getByRole('button', { name: 'Guardar y borrar estos valores' }).press('Enter');
    // Beside its facts again, and to be changed again once it is through.
    await panel.getByText('número entero').waitFor();
    await panel.getByRole('button', { name: 'Editar' }).waitFor();
    await page.keyboard.press('Escape');
    await panel.waitFor({ state: 'hidden' });
    // Where one was before all of it.
    const isFocused = await page
      .getByRole('button', { name: 'Nuevo atributo' })
      .evaluate((button) => button === document.activeElement);
    expect(isFocused).toBe(true);
    const row = visitor.row('size');
    await row.getByText('activo').waitFor();
    await row.getByText('número entero').waitFor();
    const { body } = await bench.tenant.admin.get<{ data: { external_id: string; attributes: object }[] }>(
      '/v1/core/contacts?limit=200',
    );
    const now = new Map(body.data.map((contact) => [contact.external_id, contact.attributes]));
    expect([now.get('sized'), now.get('unsized')]).toEqual([{ size: 41 }, {}]);
    const { body: declared } = await bench.tenant.admin.get<{ data: object[] }>(
      '/v1/core/attribute-definitions?key=size',
    );
    expect(declared.data).toMatchObject([{ enum: [41, 10_000] }]);
  });
});

describe('the reference', () => {
  it('finds a route by its permission', async () => {
    const visitor = await bench.ownerBackAt('developers/reference?q=core.jobs.replay');
    await visitor.row('/v1/core/dead-letters/{id}/replay').waitFor();
  });
});

describe('the audit log', () => {
  it('says that its chain is intact, finds what was done, and is exported as filtered', async () => {
    const visitor = await bench.ownerBackAt('audit?module=identity');
    const { page } = visitor;
    await page.getByText(/La cadena de .* está intacta/).waitFor();
    await page.getByRole('row').nth(1).waitFor();
    await page.getByRole('button', { name: 'Exportar' }).click();
    const coming = page.waitForEvent('download');
    await page.getByRole('dialog').getByRole('button', { name: 'Exportar' }).click();
    const file = await (await coming).path();
    const rows = (await readFile(file, 'utf8')).trimEnd().split('\n');
    const modules = rows.map((row) => (JSON.parse(row) as { module: string }).module);
    expect(new Set(modules)).toEqual(new Set(['identity']));
  });
});

describe('who may not read the log', () => {
  it('does not see it in the menu, and is told the permission at its address', async () => {
    const visitor = await bench.signedIn(await bench.staff(bench.tenant, 'analyst'));
    const { page } = visitor;
    await visitor.goTo('audit');
    await page.getByText('core.audit.read').waitFor();
    expect(await page.getByRole('link', { name: 'Auditoría' }).count()).toBe(0);
  });
});

describe('the pages', () => {
  itHasNothingToStumbleOver(bench, () => [
    'attributes',
    'attributes?open=new',
    'developers/keys',
    'developers/webhooks',
    'developers/dead-letters',
    'developers/taxonomies',
    'developers/taxonomies?open=ecommerce',
    'developers/reference',
    'audit',
  ]);
});
