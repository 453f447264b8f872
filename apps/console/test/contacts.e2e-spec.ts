import { eventually, expectStatus } from '@customer-platform/testing';
import { consoleBench, itHasNothingToStumbleOver } from './console.fixture.js';
import { EVENT, prepareShop, purchase } from './shop.fixture.js';
import { MARKUP } from './visitor.fixture.js';

const bench = consoleBench();

beforeAll(() => prepareShop(bench));

describe('who opens a contact', () => {
  it('sees a purchase come as one chain: the segment it led into, its points, its mail and the times between', async () => {
    const { externalId, email } = await bench.contact({ first_name: 'Matilde' });
    const visitor = await bench.ownerBackAt('contacts');
    const { page } = visitor;
    // The row of the list before goes away under whoever has it in hand.
    const found = page.waitForResponse((answer) => answer.url().includes('q=matilde'));
    await page.getByRole('searchbox').fill('matilde');
    await found;
    await page.getByRole('row', { name: /Matilde/ }).focus();
    await page.keyboard.press('Enter');
    await visitor.isAt('Matilde');
    await purchase(bench, externalId);
    await page.getByRole('button', { name: EVENT }).click();
    const steps = page.getByRole('list', { name: 'Pasos de la cadena' });
    await steps.getByText('Entró al segmento «Buyers»').waitFor();
    await steps.getByText('Ganados +12 puntos').waitFor();
    await steps.getByText('Receipt B-1001').waitFor();
    await steps.getByText(email).waitFor();
    await steps.getByRole('list', { name: 'Estado del mensaje' }).getByText('enviado').waitFor();
    expect(await steps.getByText(/^[\d,.]+ (ms|s|min) después$/).count()).toBeGreaterThanOrEqual(3);
    // What is open stands in the address: a colleague sees the same.
    const { href } = new URL(page.url());
    await page.goto(href);
    await steps.getByText('Receipt B-1001').waitFor();
    await visitor.expectAccessible();
  });

  it('writes a note, changes it, deletes it and takes that back', async () => {
    const { id } = await bench.contact({ first_name: 'Berta' });
    const visitor = await bench.ownerBackAt(`contacts/${id}/notes`);
    const { page } = visitor;
    await page
      .getByRole('textbox', { name: 'Escribe una nota' })
      .fill('Prefiere que la llamen por la tarde.');
    await page.getByRole('button', { name: 'Guardar nota' }).click();
    const notes = page.getByRole('list', { name: 'Notas' });
    await notes.getByText('Prefiere que la llamen por la tarde.').waitFor();
    await notes.getByRole('button', { name: 'Editar nota' }).click();
    await notes.getByRole('textbox', { name: 'Texto' }).fill('Prefiere el correo.');
    await notes.getByRole('button', { name: 'Guardar' }).click();
    await notes.getByText('Prefiere el correo.', { exact: true }).waitFor();
    await notes.getByRole('button', { name: 'Eliminar nota' }).click();
    await page.getByText('Todavía no hay notas').waitFor();
    await page.getByRole('button', { name: 'Deshacer' }).click();
    await notes.getByText('Prefiere el correo.', { exact: true }).waitFor();
  });

  it('finds nothing there of another contact, wherever the history leads', async () => {
    const first = await bench.contact({ first_name: 'Fresia' });
    await bench.contact({ first_name: 'Gracia' });
    const visitor = await bench.ownerBackAt(`contacts/${first.id}/profile`);
    const { page } = visitor;
    await visitor.menu.getByRole('link', { name: 'Contactos', exact: true }).click();
    const found = page.waitForResponse((answer) => answer.url().includes('q=gracia'));
    await page.getByRole('searchbox').fill('gracia');
    await found;
    await page.getByRole('row', { name: /Gracia/ }).focus();
    await page.keyboard.press('Enter');
    await visitor.isAt('Gracia');
    await page.getByRole('link', { name: 'Perfil', exact: true }).click();
    await page.getByRole('button', { name: 'Editar', exact: true }).click();
    const surname = page.getByRole('textbox', { name: 'Apellido' });
    await surname.fill('Mistral');
    // Past the list, from one profile to the other.
    await page.evaluate(() => history.go(-3));
    await visitor.dialog.getByRole('button', { name: 'Descartar' }).click();
    await visitor.isAt('Fresia');
    await visitor.settled();
    expect(await surname.count()).toBe(0);
  });

  it('records what the contact has said', async () => {
    const { id } = await bench.contact({ first_name: 'Clara' });
    const settings = '/v1/messaging/channel-settings';
    const { body } = await bench.tenant.admin.get<{ channels?: object }>(settings);
    const in_app = { enabled: true, provider: 'inbox', consent_mode: 'opt_in' };
    const put = { body: { ...body, channels: { ...body.channels, in_app } } };
    expectStatus(await bench.tenant.admin.call('PUT', settings, put), 200);
    const visitor = await bench.ownerBackAt(`contacts/${id}/consents`);
    const { page } = visitor;
    await page
      .getByText('En la app: el marketing llega solo a quienes otorgaron su consentimiento.')
      .waitFor();
    await page.getByRole('button', { name: 'Registrar consentimiento' }).click();
    const form = page.getByRole('dialog', { name: 'Registrar consentimiento' });
    await form.getByRole('textbox', { name: 'Método' }).fill('call');
    await form.getByRole('textbox', { name: 'Versión del aviso' }).fill('2026-01');
    await form.getByRole('button', { name: 'Registrar', exact: true }).click();
    const now = page.getByRole('region', { name: 'Consentimiento vigente' });
    await now.getByRole('row', { name: /Marketing.*Todos los canales.*otorgado/ }).waitFor();
  });

  it('is shown what somebody else changed meanwhile, and chooses', async () => {
    const { id } = await bench.contact({ first_name: 'Dora' });
    const visitor = await bench.ownerBackAt(`contacts/${id}/profile`);
    const { page } = visitor;
    await page.getByRole('button', { name: 'Editar', exact: true }).click();
    await page.getByRole('textbox', { name: 'Apellido' }).fill('Mistral');
    expectStatus(await bench.tenant.admin.patch(`/v1/core/contacts/${id}`, { last_name: 'Parra' }), 200);
    await page.getByRole('button', { name: 'Guardar', exact: true }).click();
    await page.getByText('Otra persona cambió este contacto mientras tanto:').waitFor();
    await page.getByRole('status').getByText('Parra').waitFor();
    await page.getByRole('button', { name: 'Conservar mi versión' }).click();
    await visitor.isAt('Dora Mistral');
  });

  it('is told of a source that does not answer, and sees its items once it does', async () => {
    const { externalId, id } = await bench.contact({ first_name: 'Rosa' });
    await purchase(bench, externalId);
    await eventually(async () => {
      const { body } = await bench.tenant.admin.get<{ data: unknown[] }>(
        `/v1/loyalty/transactions?contact_id=${id}`,
      );
      expect(body.data).toHaveLength(1);
    });
    const visitor = await bench.ownerBackAt('');
    const { page } = visitor;
    // As the platform answers while loyalty is away: a journey ends it.
    await page.route(new RegExp(`/v1/crm/contacts/${id}/timeline`), async (route) => {
      const response = await route.fetch();
      const whole = (await response.json()) as { data: { source: string }[] };
      const data = whole.data.filter(({ source }) => source !== 'loyalty');
      await route.fulfill({ response, json: { ...whole, data, unreachable: ['loyalty'] } });
    });
    await visitor.open(`contacts/${id}`);
    const silence = page.getByText('«Puntos» no responde');
    await silence.waitFor();
    await visitor.expectAccessible();
    await page.unrouteAll({ behavior: 'wait' });
    await silence.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: EVENT }).getByText('+12 puntos').waitFor();
  });
});

describe('an address with something in it that no page knows', () => {
  it.each(['messages/suppressions', 'messages', 'contacts', 'segments', 'loyalty', 'campaigns'])(
    'shows %s all the same',
    async (path) => {
      const visitor = await bench.ownerBackAt(`${path}?utm_source=mail&channel=pigeon&q=42`);
      await visitor.settled();
      expect(await visitor.page.getByRole('alert').allTextContents()).toEqual([]);
      expect(visitor.page.url()).not.toContain('utm_source');
    },
  );

  it('shows each list by what it knows of states, kinds, orders, ids and times', async () => {
    const visitor = await bench.ownerBackAt('messages');
    const refused: string[] = [];
    for (const path of WRONGLY_FILTERED) {
      await visitor.open(path);
      await visitor.settled();
      for (const text of await visitor.page.getByRole('alert').allTextContents())
        refused.push(`${path}: ${text}`);
    }
    expect(refused).toEqual([]);
  });
});

/** Lists, filtered by values of which there are none. */
const WRONGLY_FILTERED = [
  'messages?state=flying&category=gossip&reason=bored&from=yesterday&to=%2B012026-01-01T00:00:00Z',
  'messages?contact_id=nobody&template_id=1&correlation_id=x&source_id=true&run_id=0',
  'messages/campaigns?state=flying&channel=pigeon&sort=size',
  'messages/deliverability?from=0001-01-01&granularity=moment&group_by=mood&sort=size',
  'messages/routing?event_type=core.rain&channel=pigeon&enabled=perhaps',
  'messages/sender-domains?state=flying&sort=size',
  'messages/suppressions?reason=bored&channel=pigeon',
  'messages/templates?kind=novel&channel=pigeon',
  'attributes?type=colour',
  'audit?outcome=unknown&module=weather&correlation_id=x&from=yesterday',
  'contacts?segment=nobody&sort=size',
  'contacts/imports?state=flying',
  'developers/dead-letters?state=flying&stage=opera&event_id=x',
  'developers/keys?status=flying',
  'developers/webhooks?enabled=perhaps',
  'events/earlier?type=page&contact_id=nobody&until=yesterday',
  'loyalty?kind=gift&contact_id=nobody&rule_id=1&correlation_id=x',
  'loyalty/rules?enabled=perhaps',
  'organization/children?status=flying&sort=size',
  'organization/clients?kind=novel&sort=size',
  'organization/invitations?status=flying&sort=size',
  'organization/people?status=flying&sort=size',
  'organization/roles?kind=novel&sort=size',
  'organization/sessions?status=flying&sort=size',
  'organization/sso?status=flying&sort=size',
  'privacy?type=wish&state=flying&contact_id=nobody',
  'segments?state=flying&sort=size',
];

describe('who merges two contacts', () => {
  it('sees before what stays, is led from the old one to the new, and takes it back', async () => {
    const kept = await bench.contact({ first_name: 'Elsa', last_name: 'Kept' });
    const other = await bench.contact({ first_name: 'Elsa', last_name: 'Other' });
    const visitor = await bench.ownerBackAt(`contacts/merge?survivor=${kept.id}&merged=${other.id}`);
    const { page } = visitor;
    await page
      .getByRole('row', { name: /Apellido/ })
      .getByText('Other')
      .waitFor();
    await page.getByRole('button', { name: 'Fusionar', exact: true }).click();
    await visitor.isAt('Elsa Kept');
    await page.getByRole('button', { name: 'Deshacer' }).waitFor();
    const undone = page.getByText('Fusión deshecha');
    await page.getByRole('button', { name: 'Deshacer' }).click();
    await undone.waitFor();
    await visitor.open(`contacts/${other.id}`);
    await visitor.isAt('Elsa Other');
    const body = { survivor_id: kept.id, merged_id: other.id };
    expectStatus(await bench.tenant.admin.post('/v1/core/contacts/merge', body), 200);
    await visitor.open(`contacts/${other.id}`);
    await page.getByText(`El contacto ${other.id} se fusionó con este.`).waitFor();
    expect(page.url()).toContain(kept.id);
  });
});

describe('texts of customers', () => {
  it('are text, whatever they say', async () => {
    const { externalId, id } = await bench.contact({ first_name: MARKUP, last_name: '\u202Eesrever' });
    await bench.track(`${MARKUP}${'x'.repeat(60)}`, externalId, {
      link: 'javascript:window.hacked=1',
      long: 'y'.repeat(10_000),
    });
    const note = { contact_id: id, body: `<script>window.hacked=1</script>\n${'z'.repeat(9_000)}` };
    expectStatus(await bench.tenant.admin.post('/v1/crm/notes', note), 201);
    const visitor = await bench.ownerBackAt('', { width: 360 });
    const { page } = visitor;
    for (const path of ['contacts', `contacts/${id}/profile`, `contacts/${id}/notes`, `contacts/${id}`]) {
      await visitor.open(path);
      await page.getByText('<', { exact: false }).first().waitFor();
      await visitor.expectUnbroken();
    }
    await page.getByRole('button', { name: /<img/ }).click();
    await page.getByText('Propiedades', { exact: true }).click();
    await page.getByText('javascript:window').first().waitFor();
    await visitor.expectUnbroken();
  });
});

describe('the pages of contacts', () => {
  itHasNothingToStumbleOver(bench, async () => {
    const { id, externalId } = await bench.contact({ first_name: 'Flora' });
    await purchase(bench, externalId);
    const parts = ['', '/profile', '/consents', '/notes', '/activities', '/points'];
    return ['', '?form=true', '/merge-suggestions', '/merge', ...parts.map((part) => `/${id}${part}`)].map(
      (path) => `contacts${path}`,
    );
  });
});
