import { randomUUID } from 'node:crypto';
import {
  END_WITHIN_MS,
  eventually,
  expectStatus,
  START_WITHIN_MS,
  type Tenant,
} from '@customer-platform/testing';
import { ConsoleBench, type Staff } from './console.fixture.js';

let bench: ConsoleBench;
let tenant: Tenant;
let owner: Staff;

beforeAll(async () => {
  bench = await ConsoleBench.start();
  tenant = await bench.platform.tenant();
  owner = await bench.staff(tenant);
}, START_WITHIN_MS);
afterAll(() => bench.end(), END_WITHIN_MS);

/** Sends an event as a shop does. */
async function send(event: string, properties: object = {}, externalId = 'ana'): Promise<void> {
  const body = {
    event,
    external_id: externalId,
    idempotency_key: randomUUID(),
    occurred_at: new Date().toISOString(),
    properties,
  };
  expectStatus(await tenant.ingestion.post('/v1/core/track', body), 202);
}

/** The markup is text here, or `hacked` would be set by one of them. */
const HOSTILE = [
  '<img src=x onerror="window.hacked=1">',
  '"><script>window.hacked=1</script>',
  'javascript:window.hacked=1',
  '\u202Eevil\u202C مرحبا',
  'n'.repeat(200),
];

describe('live events', () => {
  it('shows an event as it is stored, opens it, and a link to it shows the same', async () => {
    const visitor = await bench.signedIn(owner);
    const { page } = visitor;
    await visitor.open('events');
    await page.getByRole('heading', { level: 1, name: 'Eventos en vivo' }).waitFor();
    await send('purchase_completed', { amount: 12_990, currency: 'CLP' });
    await page.getByRole('row').filter({ hasText: 'purchase_completed' }).first().click();
    const panel = page.getByRole('dialog', { name: 'purchase_completed' });
    await panel.getByRole('region', { name: 'Evento en JSON' }).getByText('"amount": 12990').waitFor();
    await panel.getByRole('heading', { name: 'A qué llevó' }).waitFor();
    await page.goto(page.url());
    await page.getByRole('dialog', { name: 'purchase_completed' }).getByText('"amount": 12990').waitFor();
    await page.keyboard.press('Escape');
    await page.waitForURL(({ search }) => search === '');
    expect(visitor.complaints).toEqual([]);
    await visitor.close();
  });

  it('stands still when paused, says how many came, and goes on', async () => {
    const visitor = await bench.signedIn(owner);
    const { page } = visitor;
    await visitor.open('events?external_id=paused');
    await send('before', {}, 'paused');
    await page.getByRole('row').filter({ hasText: 'before' }).waitFor();
    await page.getByRole('button', { name: 'Pausar' }).click();
    await send('during', {}, 'paused');
    await send('during', {}, 'paused');
    await page.getByText('En pausa: 2 nuevos').waitFor();
    expect(await page.getByRole('row').filter({ hasText: 'during' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Continuar' }).click();
    await eventually(async () =>
      expect(await page.getByRole('row').filter({ hasText: 'during' }).count()).toBe(2),
    );
    await visitor.close();
  });

  it('is told by the stream, and goes on where it was when it is cut off', async () => {
    const visitor = await bench.signedIn(owner);
    const { page } = visitor;
    const streams: (string | undefined)[] = [];
    let lists = 0;
    page.on('request', (request) => {
      const { pathname } = new URL(request.url());
      if (pathname === '/v1/core/events/stream') streams.push(request.headers()['last-event-id']);
      if (pathname === '/v1/core/events') lists += 1;
    });
    const row = (name: string) => page.getByRole('row').filter({ hasText: name });
    await visitor.open('events?external_id=streamed');
    await page.getByRole('status').getByText('En vivo', { exact: true }).waitFor();
    // Whatever comes from here on, the list was not asked for it.
    const before = lists;
    await send('told', {}, 'streamed');
    await row('told').waitFor();
    expect(streams).toEqual([undefined]);
    await bench.platform.query('core', 'DELETE FROM event_streams WHERE organization_id = $1', [tenant.id]);
    await send('meanwhile', {}, 'streamed');
    await eventually(() => expect(streams).toHaveLength(2));
    expect(streams[1]).toMatch(/^[\w-]+$/);
    await send('after', {}, 'streamed');
    await row('after').waitFor();
    for (const name of ['told', 'meanwhile', 'after']) expect(await row(name).count()).toBe(1);
    expect(lists).toBe(before);
    expect(visitor.complaints).toEqual([]);
    await visitor.close();
  });

  it('shows whatever events are called as text, also what they hold', async () => {
    const visitor = await bench.signedIn(owner);
    const { page } = visitor;
    for (const name of HOSTILE) await send(name, { note: name, [name.slice(0, 50)]: HOSTILE }, 'hostile');
    await visitor.open('events?external_id=hostile');
    for (const name of HOSTILE) await page.getByRole('row').filter({ hasText: name }).first().waitFor();
    await page.getByRole('row').filter({ hasText: 'onerror' }).first().click();
    await page.getByRole('dialog').getByRole('region', { name: 'Evento en JSON' }).waitFor();
    await visitor.open('events/earlier?external_id=hostile');
    for (const name of HOSTILE) await page.getByRole('row').filter({ hasText: name }).first().waitFor();
    expect(await page.evaluate(() => 'hacked' in window)).toBe(false);
    expect(visitor.complaints).toEqual([]);
    await visitor.close();
  });

  it.each([
    { scheme: 'light', width: 1_440, locale: 'es-CL' },
    { scheme: 'dark', width: 360, locale: 'en' },
  ] as const)('finds nothing to stumble over at $width px, $scheme, $locale', async ({ locale, ...eyes }) => {
    await send('looked_at');
    const person = await bench.staff(tenant, 'owner', locale);
    const visitor = await bench.signedIn(person, { ...eyes, locale });
    await visitor.open('events?event=looked_at');
    const row = visitor.page.getByRole('row').filter({ hasText: 'looked_at' }).first();
    await row.waitFor();
    expect(await visitor.findings()).toEqual([]);
    expect(await visitor.isTooWide()).toBe(false);
    await row.focus();
    await visitor.page.keyboard.press('Enter');
    await visitor.page.getByRole('dialog').getByRole('region').first().waitFor();
    expect(await visitor.findings()).toEqual([]);
    expect(await visitor.isTooWide()).toBe(false);
    await visitor.close();
  });
});
