import { eventually } from '@customer-platform/testing';
import { consoleBench, DESK_AND_PHONE } from './console.fixture.js';

const bench = consoleBench();

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
    const visitor = await bench.ownerBackAt('events');
    const { page } = visitor;
    await visitor.isAt('Eventos en vivo');
    await bench.track('purchase_completed', 'ana', { amount: 12_990, currency: 'CLP' });
    await visitor.row('purchase_completed').first().click();
    const panel = page.getByRole('dialog', { name: 'purchase_completed' });
    await panel.getByRole('region', { name: 'Evento en JSON' }).getByText('"amount": 12990').waitFor();
    await panel.getByRole('heading', { name: 'Qué provocó' }).waitFor();
    await page.goto(page.url());
    await page.getByRole('dialog', { name: 'purchase_completed' }).getByText('"amount": 12990').waitFor();
    await page.keyboard.press('Escape');
    await page.waitForURL(({ search }) => search === '');
  });

  it('stands still when paused, says how many came, and goes on', async () => {
    const visitor = await bench.ownerBackAt('events?external_id=paused');
    const { page } = visitor;
    await bench.track('before', 'paused');
    await visitor.row('before').waitFor();
    await page.getByRole('button', { name: 'Pausar' }).click();
    await bench.track('during', 'paused');
    await bench.track('during', 'paused');
    await page.getByText('En pausa: 2 nuevos').waitFor();
    expect(await visitor.row('during').count()).toBe(0);
    await page.getByRole('button', { name: 'Reanudar' }).click();
    await eventually(async () => expect(await visitor.row('during').count()).toBe(2));
  });

  it('is told by the stream, and goes on where it was when it is cut off', async () => {
    const visitor = await bench.ownerBackAt('');
    const { page } = visitor;
    const streams: (string | undefined)[] = [];
    let lists = 0;
    page.on('request', (request) => {
      const { pathname } = new URL(request.url());
      if (pathname === '/v1/core/events/stream') streams.push(request.headers()['last-event-id']);
      if (pathname === '/v1/core/events') lists += 1;
    });
    await visitor.open('events?external_id=streamed');
    await page.getByRole('status').getByText('En vivo', { exact: true }).waitFor();
    // Whatever comes from here on, the list was not asked for it.
    const before = lists;
    await bench.track('told', 'streamed');
    await visitor.row('told').waitFor();
    expect(streams).toEqual([undefined]);
    await bench.platform.query('core', 'DELETE FROM event_streams WHERE organization_id = $1', [
      bench.tenant.id,
    ]);
    await bench.track('meanwhile', 'streamed');
    await eventually(() => expect(streams).toHaveLength(2));
    expect(streams[1]).toMatch(/^[\w-]+$/);
    await bench.track('after', 'streamed');
    await visitor.row('after').waitFor();
    for (const name of ['told', 'meanwhile', 'after']) expect(await visitor.row(name).count()).toBe(1);
    expect(lists).toBe(before);
  });

  it('shows whatever events are called as text, also what they hold', async () => {
    const visitor = await bench.ownerBackAt('');
    const { page } = visitor;
    for (const name of HOSTILE)
      await bench.track(name, 'hostile', { note: name, [name.slice(0, 50)]: HOSTILE });
    await visitor.open('events?external_id=hostile');
    for (const name of HOSTILE) await visitor.row(name).first().waitFor();
    await visitor.row('onerror').first().click();
    await page.getByRole('dialog').getByRole('region', { name: 'Evento en JSON' }).waitFor();
    await visitor.open('events/earlier?external_id=hostile');
    for (const name of HOSTILE) await visitor.row(name).first().waitFor();
    expect(await page.evaluate(() => 'hacked' in window)).toBe(false);
  });

  it.each(DESK_AND_PHONE)('finds nothing to stumble over at $width px, $scheme, $locale', async (eyes) => {
    await bench.track('looked_at', 'ana');
    const visitor = await bench.newOwner(eyes);
    await visitor.open('events?event=looked_at');
    const row = visitor.row('looked_at').first();
    await row.waitFor();
    await visitor.expectAccessible();
    await row.focus();
    await visitor.page.keyboard.press('Enter');
    await visitor.page.getByRole('dialog').getByRole('region').first().waitFor();
    await visitor.expectAccessible();
  });
});
