import { randomUUID } from 'node:crypto';
import {
  END_WITHIN_MS,
  eventually,
  expectStatus,
  START_WITHIN_MS,
  type Tenant,
} from '@customer-platform/testing';
import { ConsoleBench, type Staff, type Visitor } from './console.fixture.js';

const EVENT = 'purchase_completed';

let bench: ConsoleBench;
let tenant: Tenant;
let owner: Staff;

beforeAll(async () => {
  bench = await ConsoleBench.start();
  tenant = await bench.platform.tenant();
  owner = await bench.staff(tenant);
  await prepare(tenant);
}, START_WITHIN_MS);
afterAll(() => bench.end(), END_WITHIN_MS);

describe('who opens a contact', () => {
  it('sees a purchase come as one chain: the segment it led into, its points, its mail and the times between', async () => {
    const { externalId, email } = await introduced({ first_name: 'Matilde' });
    const visitor = await bench.signedIn(owner);
    const { page } = visitor;
    await visitor.open('contacts');
    // The row of the list before goes away under whoever has it in hand.
    const found = page.waitForResponse((answer) => answer.url().includes('q=matilde'));
    await page.getByRole('searchbox').fill('matilde');
    await found;
    await page.getByRole('row', { name: /Matilde/ }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Matilde' }).waitFor();
    await purchase(externalId);
    await page.getByRole('button', { name: EVENT }).click();
    const steps = page.getByRole('list', { name: 'Pasos de la cadena' });
    await steps.getByText('Entró al segmento «Buyers»').waitFor();
    await steps.getByText('Ganados +12 puntos').waitFor();
    await steps.getByText('Receipt B-1001').waitFor();
    await steps.getByText(email).waitFor();
    await steps.getByRole('list', { name: 'Estados del mensaje' }).getByText('enviado').waitFor();
    expect(await steps.getByText(/^[\d,.]+ (ms|s|min) después$/).count()).toBeGreaterThanOrEqual(3);
    // What is open stands in the address: a colleague sees the same.
    const { href } = new URL(page.url());
    await page.goto(href);
    await steps.getByText('Receipt B-1001').waitFor();
    expect(await visitor.findings()).toEqual([]);
    expect(visitor.complaints).toEqual([]);
    await visitor.close();
  });

  it('is told of a source that does not answer, and sees its items once it does', async () => {
    const { externalId, id } = await introduced({ first_name: 'Rosa' });
    await purchase(externalId);
    await eventually(async () => {
      const { body } = await tenant.admin.get<{ data: unknown[] }>(
        `/v1/loyalty/transactions?contact_id=${id}`,
      );
      expect(body.data).toHaveLength(1);
    });
    const visitor = await bench.signedIn(owner);
    await bench.platform.processes['loyalty']?.stop();
    await visitor.open(`contacts/${id}`);
    const silence = visitor.page.getByText('«Puntos» no responde');
    await silence.waitFor();
    expect(await visitor.findings()).toEqual([]);
    await bench.platform.restart('loyalty');
    await silence.waitFor({ state: 'detached' });
    await visitor.page.getByRole('button', { name: EVENT }).getByText('+12 puntos').waitFor();
    await visitor.close();
  });

  it('writes a note, changes it, deletes it and takes that back', async () => {
    const { id } = await introduced({ first_name: 'Berta' });
    const visitor = await bench.signedIn(owner);
    const { page } = visitor;
    await visitor.open(`contacts/${id}/notes`);
    await page
      .getByRole('textbox', { name: 'Escribe una nota' })
      .fill('Prefiere que la llamen por la tarde.');
    await page.getByRole('button', { name: 'Guardar la nota' }).click();
    const notes = page.getByRole('list', { name: 'Notas' });
    await notes.getByText('Prefiere que la llamen por la tarde.').waitFor();
    await notes.getByRole('button', { name: 'Cambiar la nota' }).click();
    await notes.getByRole('textbox', { name: 'Texto' }).fill('Prefiere el correo.');
    await notes.getByRole('button', { name: 'Guardar' }).click();
    await notes.getByText('Prefiere el correo.', { exact: true }).waitFor();
    await notes.getByRole('button', { name: 'Eliminar la nota' }).click();
    await page.getByText('Todavía no hay notas').waitFor();
    await page.getByRole('button', { name: 'Deshacer' }).click();
    await notes.getByText('Prefiere el correo.', { exact: true }).waitFor();
    expect(visitor.complaints).toEqual([]);
    await visitor.close();
  });

  it('records what the contact has said', async () => {
    const { id } = await introduced({ first_name: 'Clara' });
    const visitor = await bench.signedIn(owner);
    const { page } = visitor;
    await visitor.open(`contacts/${id}/consents`);
    await page.getByRole('button', { name: 'Registrar un consentimiento' }).click();
    const form = page.getByRole('dialog', { name: 'Registrar un consentimiento' });
    await form.getByRole('textbox', { name: 'Cómo se dio' }).fill('call');
    await form.getByRole('textbox', { name: 'Versión del aviso' }).fill('2026-01');
    await form.getByRole('button', { name: 'Registrar', exact: true }).click();
    const now = page.getByRole('region', { name: 'Lo que vale ahora' });
    await now.getByRole('row', { name: /Marketing.*Todos los canales.*otorgado/ }).waitFor();
    await visitor.close();
  });

  it('is shown what somebody else changed meanwhile, and chooses', async () => {
    const { id } = await introduced({ first_name: 'Dora' });
    const visitor = await bench.signedIn(owner);
    const { page } = visitor;
    await visitor.open(`contacts/${id}/profile`);
    await page.getByRole('button', { name: 'Cambiar', exact: true }).click();
    await page.getByRole('textbox', { name: 'Apellido' }).fill('Mistral');
    expectStatus(await tenant.admin.patch(`/v1/core/contacts/${id}`, { last_name: 'Parra' }), 200);
    await page.getByRole('button', { name: 'Guardar', exact: true }).click();
    await page.getByText('Otra persona cambió este contacto mientras tanto:').waitFor();
    await page.getByText('Parra').waitFor();
    await page.getByRole('button', { name: 'Guardar lo mío' }).click();
    await page.getByRole('heading', { level: 1, name: 'Dora Mistral' }).waitFor();
    await visitor.close();
  });
});

describe('who merges two contacts', () => {
  it('sees before what stays, is led from the old one to the new, and takes it back', async () => {
    const kept = await introduced({ first_name: 'Elsa', last_name: 'Kept' });
    const other = await introduced({ first_name: 'Elsa', last_name: 'Other' });
    const visitor = await bench.signedIn(owner);
    const { page } = visitor;
    await visitor.open(`contacts/merge?survivor=${kept.id}&merged=${other.id}`);
    await page
      .getByRole('row', { name: /Apellido/ })
      .getByText('Other')
      .waitFor();
    await page.getByRole('button', { name: 'Fusionar', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Elsa Kept' }).waitFor();
    await page.getByRole('button', { name: 'Deshacer' }).waitFor();
    const undone = page.getByText('Fusión deshecha');
    await page.getByRole('button', { name: 'Deshacer' }).click();
    await undone.waitFor();
    await visitor.open(`contacts/${other.id}`);
    await page.getByRole('heading', { level: 1, name: 'Elsa Other' }).waitFor();
    const body = { survivor_id: kept.id, merged_id: other.id };
    expectStatus(await tenant.admin.post('/v1/core/contacts/merge', body), 200);
    await visitor.open(`contacts/${other.id}`);
    await page.getByText(`El contacto ${other.id} que buscabas se fusionó con este.`).waitFor();
    expect(page.url()).toContain(kept.id);
    await visitor.close();
  });
});

describe('texts of customers', () => {
  it('are text, whatever they say', async () => {
    const image = '<img src=x onerror="document.title=`broken`">';
    const { externalId, id } = await introduced({ first_name: image, last_name: '\u202Eesrever' });
    await track(externalId, `${image}${'x'.repeat(60)}`, {
      link: 'javascript:document.title=`broken`',
      long: 'y'.repeat(10_000),
    });
    const note = { contact_id: id, body: `<script>document.title='broken'</script>\n${'z'.repeat(9_000)}` };
    expectStatus(await tenant.admin.post('/v1/crm/notes', note), 201);
    const visitor = await bench.signedIn(owner, { width: 360 });
    const { page } = visitor;
    for (const path of ['contacts', `contacts/${id}/profile`, `contacts/${id}/notes`, `contacts/${id}`]) {
      await visitor.open(path);
      await page.getByText('<', { exact: false }).first().waitFor();
      await expectUnbroken(visitor);
    }
    await page.getByRole('button', { name: /<img/ }).click();
    await page.getByText('Propiedades', { exact: true }).click();
    await page.getByText('javascript:document').first().waitFor();
    await expectUnbroken(visitor);
    await visitor.close();
  });
});

describe('the pages of contacts', () => {
  it.each([
    { scheme: 'light', width: 1_440, locale: 'es-CL' },
    { scheme: 'dark', width: 360, locale: 'en' },
  ] as const)('have nothing to stumble over at $width px, $scheme, $locale', async ({ locale, ...eyes }) => {
    const { id, externalId } = await introduced({ first_name: 'Flora' });
    await purchase(externalId);
    const visitor = await bench.signedIn(await bench.staff(tenant, 'owner', locale), { ...eyes, locale });
    const parts = ['', '/profile', '/consents', '/notes', '/activities', '/points'].map(
      (part) => `/${id}${part}`,
    );
    for (const path of ['', '?form=true', '/merge-suggestions', '/merge', ...parts]) {
      await visitor.open(`contacts${path}`);
      await visitor.page.waitForFunction(() => document.querySelector('[aria-busy="true"]') === null);
      expect([path, await visitor.findings()]).toEqual([path, []]);
      expect([path, await isTooWide(visitor)]).toEqual([path, false]);
    }
    expect(visitor.complaints).toEqual([]);
    await visitor.close();
  });
});

async function expectUnbroken(visitor: Visitor): Promise<void> {
  expect(await visitor.page.title()).not.toBe('broken');
  expect(await visitor.page.locator('main img, main script').count()).toBe(0);
  expect(await isTooWide(visitor)).toBe(false);
  expect(visitor.complaints).toEqual([]);
}

/** Whether one has to scroll sideways: the page's content scrolls by itself. */
async function isTooWide(visitor: Visitor): Promise<boolean> {
  const content = await visitor.page.evaluate(() => {
    const { scrollWidth = 0, clientWidth = 0 } = document.getElementById('content') ?? {};
    return scrollWidth > clientWidth;
  });
  return content || visitor.isTooWide();
}

/** What an administrator sets up once: a rule that earns, a template, the route that sends it, and a segment. */
async function prepare({ admin }: Tenant): Promise<void> {
  const made = async (path: string, body: object): Promise<string> => {
    const answer = await admin.post<{ id: string }>(path, body);
    expectStatus(answer, 201);
    return answer.body.id;
  };
  await made('/v1/loyalty/rules', {
    name: 'A point per 1,000 CLP',
    event: EVENT,
    formula: { type: 'per_amount', currency: 'CLP', per: 1000, points: 1 },
  });
  const template_id = await made('/v1/messaging/templates', {
    name: 'Receipt',
    channel: 'email',
    default_locale: 'en',
    locales: { en: { subject: 'Receipt {{ event.properties.invoice_id }}', html: '<p>Thanks.</p>' } },
  });
  await made('/v1/messaging/event-routing', {
    name: 'Receipts',
    event_type: 'core.event.recorded',
    event_name: EVENT,
    channel: 'email',
    category: 'transactional',
    template_id,
  });
  await made('/v1/core/segments', { name: 'Buyers', rule: { event: EVENT, count: { op: 'gte', value: 1 } } });
}

/** A contact of its own. */
async function introduced(names: { first_name: string; last_name?: string }) {
  const externalId = `customer-${randomUUID()}`;
  const email = `${externalId}@example.com`;
  const body = { external_id: externalId, email, ...names };
  const answer = await tenant.admin.post<{ id: string }>('/v1/core/contacts', body);
  expectStatus(answer, 201);
  return { externalId, email, id: answer.body.id };
}

function purchase(externalId: string): Promise<void> {
  return track(externalId, EVENT, { amount: 12_990, currency: 'CLP', invoice_id: 'B-1001' });
}

async function track(external_id: string, event: string, properties: object): Promise<void> {
  const body = {
    event,
    external_id,
    idempotency_key: randomUUID(),
    occurred_at: new Date().toISOString(),
    properties,
  };
  expectStatus(await tenant.ingestion.post('/v1/core/track', body), 202);
}
