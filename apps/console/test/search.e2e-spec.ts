import { randomUUID } from 'node:crypto';
import { consoleBench } from './console.fixture.js';
import type { Visitor } from './visitor.fixture.js';

const bench = consoleBench();

async function search({ page }: Visitor, typed: string): Promise<ReturnType<Visitor['row']>> {
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Buscar' }).fill(typed);
  return page.getByRole('option');
}

describe('the search by names', () => {
  it('finds campaigns, keys, objects, routing and lists however many there are, and ignores case', async () => {
    const word = `Cobalto${randomUUID().slice(0, 8)}`;
    const template_id = await bench.made('/v1/messaging/templates', {
      name: `${word} tpl`,
      channel: 'email',
      default_locale: 'en',
      locales: { en: { subject: 'Hi', html: '<p>Hi.</p>' } },
    });
    const list = await bench.made('/v1/crm/lists', { name: `${word} list` });
    const audience = { type: 'list', id: list };
    const campaign = { name: `${word} campaign`, channel: 'email', template_id, audience };
    await bench.made('/v1/messaging/campaigns', campaign);
    const rule = {
      name: `${word} route`,
      event_type: 'core.event.recorded',
      event_name: 'x',
      channel: 'email',
    };
    await bench.made('/v1/messaging/event-routing', { ...rule, template_id });
    const slug = word.toLowerCase();
    await bench.made('/v1/crm/object-definitions', { slug, name: `${word} obj`, fields: [] });
    const { body: roles } = await bench.tenant.admin.get<{ data: { id: string; key: string | null }[] }>(
      '/v1/identity/roles?kind=machine&limit=200',
    );
    const role_id = roles.data.find(({ key }) => key === 'ingestion')?.id ?? roles.data[0]?.id;
    const made = await bench.tenant.admin.post<{ prefix: string; key: string }>('/v1/identity/api-keys', {
      name: `${word} key`,
      role_id,
    });
    const visitor = await bench.signedIn(bench.owner);
    const { page } = visitor;
    const asked: URL[] = [];
    page.on('request', (request) => asked.push(new URL(request.url())));
    const options = await search(visitor, slug);
    for (const [kind, name] of [
      ['Lista', `${word} list`],
      ['Campaña', `${word} campaign`],
      ['Regla de ruteo de eventos', `${word} route`],
      ['Objeto', `${word} obj`],
      ['Clave de API', `${word} key`],
    ] as const)
      await options.filter({ hasText: kind }).filter({ hasText: name }).waitFor();
    await visitor.expectAccessible();
    const lists = asked.filter(({ search: query }) => query.includes(word.toLowerCase()));
    expect(lists.filter(({ searchParams }) => Number(searchParams.get('limit')) > 20)).toEqual([]);
    asked.length = 0;

    // A key is found by its beginning; the rest of it, which is secret, stands in no address.
    await page.getByRole('combobox', { name: 'Buscar' }).fill(made.body.key);
    await options.filter({ hasText: `${word} key` }).waitFor();
    expect(asked.filter(({ href }) => href.includes(made.body.key.slice(0, 20)))).toEqual([]);
    await options.filter({ hasText: `${word} key` }).click();
    await page.waitForURL('**/developers/keys?open=*');
  });

  it('says which kinds do not answer, as of an older platform, and shows the others', async () => {
    const word = `Turmalina${randomUUID().slice(0, 8)}`;
    await bench.made('/v1/crm/lists', { name: word });
    const visitor = await bench.signedIn(bench.owner);
    const { page } = visitor;
    await page.route(/\/v1\/messaging\/campaigns\?/, (route) =>
      route.fulfill({
        status: 400,
        contentType: 'application/problem+json',
        body: JSON.stringify({ title: 'Unknown parameter', status: 400, code: 'unknown_parameter' }),
      }),
    );
    const options = await search(visitor, word);
    await options.filter({ hasText: 'Lista' }).waitFor();
    await page.getByText('Sin respuesta de: campañas.').waitFor();
    await visitor.expectAccessible();
    await options.first().click();
    await page.getByRole('dialog', { name: word }).waitFor();
  });
});
