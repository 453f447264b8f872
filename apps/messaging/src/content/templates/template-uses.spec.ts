import { expectProblem, expectStatus, type Caller } from '@customer-platform/testing';
import {
  aSend,
  aTemplate,
  messagingWorld,
  send,
  settled,
  type MessagingWorld,
} from '../../messaging.fixture.js';

const TEMPLATES = '/v1/messaging/templates';

interface Shown {
  id: string;
  name: string;
  version: number;
  published_version: number | null;
  uses: { id: string; name: string; kind: string; version: number; published_version: number }[];
}

let world: MessagingWorld;
beforeAll(async () => {
  world = await messagingWorld({ consume: false });
});
afterAll(() => world.close());

async function made(api: Caller, body: Record<string, unknown>): Promise<Shown> {
  const answer = await api.post<Shown>(TEMPLATES, aTemplate(body));
  expectStatus(answer, 201);
  return answer.body;
}

const partial = (api: Caller, name: string, html: string, more: Record<string, unknown> = {}) =>
  made(api, { name, kind: 'partial', locales: { es: { html } }, ...more });

const mail = (html: string, more: Record<string, unknown> = {}) => ({
  locales: { es: { subject: 'Hola', html } },
  ...more,
});

async function patched(api: Caller, id: string, body: Record<string, unknown>): Promise<Shown> {
  const answer = await api.patch<Shown>(`${TEMPLATES}/${id}`, body);
  expectStatus(answer, 200);
  return answer.body;
}

async function parts(
  api: Caller,
  id: string,
  body: Record<string, unknown> = {},
): Promise<Record<string, string>> {
  const answer = await api.post<{ parts: Record<string, string> }>(`${TEMPLATES}/${id}/preview`, body);
  expectStatus(answer, 200);
  return answer.body.parts;
}

/** What a template was refused for. */
async function refused(api: Caller, body: Record<string, unknown>): Promise<unknown> {
  const answer = await api.post<{ errors: { pointer: string }[] }>(TEMPLATES, aTemplate(body));
  expectProblem(answer, 422, 'template_invalid');
  return answer.body.errors.map(({ pointer }) => pointer);
}

describe('partials and layouts', () => {
  it('stand in a message as if they were written there, in its language, in its text, and escaped as it is', async () => {
    const { api } = world.organization();
    await partial(api, 'Saludo', '', {
      locales: { es: { html: '<b>Hola {{ data.name }}</b>' }, en: { html: '<b>Hi {{ data.name }}</b>' } },
    });
    await made(api, {
      name: 'Marco',
      kind: 'layout',
      locales: { es: { html: '<main>{{ content }}</main><p>Pie</p>' } },
    });
    const { id, uses } = await made(api, {
      layout: 'Marco',
      locales: {
        es: { subject: 'Hola', html: `{% render 'Saludo' %}<i>uno</i>` },
        en: { subject: 'Hi', html: `{%- render "Saludo" -%} <i>one</i>` },
      },
    });
    expect(uses.map(({ name, kind, version }) => [name, kind, version])).toEqual([
      ['Marco', 'layout', 1],
      ['Saludo', 'partial', 1],
    ]);
    const data = { name: 'Ana & <Co>' };
    const es = await parts(api, id, { data });
    expect(es['html']).toBe('<main><b>Hola Ana &amp; &lt;Co&gt;</b><i>uno</i></main><p>Pie</p>');
    expect(es['text']).toContain('Hola Ana & <Co>');
    expect(es['text']).toContain('Pie');
    expect((await parts(api, id, { data, locale: 'en' }))['html']).toBe(
      '<main><b>Hi Ana &amp; &lt;Co&gt;</b><i>one</i></main><p>Pie</p>',
    );
  });

  it('are compiled with the MJML that they stand in', async () => {
    const { api } = world.organization();
    const section = '<mj-section><mj-column><mj-text>{{ data.word }}</mj-text></mj-column></mj-section>';
    await made(api, { name: 'Palabra', kind: 'partial', locales: { es: { mjml: section } } });
    const frame = '<mjml><mj-body>{{ content }}</mj-body></mjml>';
    await made(api, { name: 'Marco', kind: 'layout', locales: { es: { mjml: frame } } });
    const { id } = await made(api, {
      layout: 'Marco',
      locales: { es: { subject: 's', mjml: `{% render 'Palabra' %}` } },
    });
    const { html } = await parts(api, id, { data: { word: 'Gracias' } });
    expect(html).toMatch(/<!doctype html>[^]*Gracias[^]*<\/html>/i);
  });

  it('stay in a version as they were, until it is renewed; the difference is told', async () => {
    const { api } = world.organization();
    const pie = await partial(api, 'Pie', '<p>Calle 1</p>');
    const message = await made(api, mail(`{% render 'Pie' %}`));
    await patched(api, pie.id, { locales: { es: { html: '<p>Calle 2</p>' } } });
    expect((await parts(api, message.id))['html']).toBe('<p>Calle 1</p>');
    const using = await api.get<{ data: Shown[] }>(`${TEMPLATES}?uses=${pie.id}`);
    expect(using.body.data).toEqual([expect.objectContaining({ id: message.id })]);
    expect(using.body.data[0]?.uses).toEqual([
      { id: pie.id, name: 'Pie', kind: 'partial', version: 1, published_version: 2 },
    ]);
    const renewed = await patched(api, message.id, { renew_uses: true });
    expect(renewed).toMatchObject({ version: 2, published_version: 2, uses: [{ version: 2 }] });
    expect((await parts(api, message.id))['html']).toBe('<p>Calle 2</p>');
    expect((await parts(api, message.id, { version: 1 }))['html']).toBe('<p>Calle 1</p>');
    // Nothing is newer: no version is made.
    expect(await patched(api, message.id, { renew_uses: true })).toMatchObject({ version: 2 });
    const diff = await api.get<{ changes: { pointer: string; unified: string }[] }>(
      `${TEMPLATES}/${message.id}/diff?from=1&to=2`,
    );
    expect(diff.body.changes.map(({ pointer }) => pointer)).toEqual([
      '/uses/Pie/locales/es/html',
      '/uses/Pie/version',
    ]);
    expect(diff.body.changes[0]?.unified).toMatch(/-<p>Calle 1<\/p>[^]*\+<p>Calle 2<\/p>/);
    const old = await api.get<Shown>(`${TEMPLATES}/${message.id}?version=1`);
    expect(old.body.uses).toEqual([expect.objectContaining({ version: 1 })]);
  });

  it('are sent as they stand in the published version, and are not sent by themselves', async () => {
    const { api } = world.organization();
    const pie = await partial(api, 'Pie', '<p>Calle 1</p>');
    const { id } = await made(api, mail(`<p>Hola</p>{% render 'Pie' %}`));
    await patched(api, pie.id, { locales: { es: { html: '<p>Calle 2</p>' } } });
    const address = `${id}@example.com`;
    const body = aSend({ content: undefined, template_id: id, recipient: { address } });
    await settled(api, await send(api, body), 'sent');
    const [letter] = await world.mail.parsed(address);
    expect(letter?.html).toContain('<p>Calle 1</p>');
    const alone = await api.post('/v1/messaging/sends', aSend({ content: undefined, template_id: pie.id }), {
      'idempotency-key': pie.id,
    });
    expect(alone.status).toBe(422);
    expect(JSON.stringify(alone.body)).toContain('reference_not_found');
    const rule = {
      name: 'Pie',
      event_type: 'core.segment.entered',
      channel: 'email',
      template_id: pie.id,
    };
    const routed = await api.post('/v1/messaging/event-routing', rule);
    expect(routed.status).toBe(422);
    expect(JSON.stringify(routed.body)).toContain('reference_not_found');
  });

  it('are not purged while a newest or published version holds them', async () => {
    const { api } = world.organization();
    const pie = await partial(api, 'Pie', '<p>Calle 1</p>');
    const message = await made(api, mail(`{% render 'Pie' %}`));
    expectStatus(await api.delete(`${TEMPLATES}/${pie.id}`), 204);
    const purge = () => api.delete(`${TEMPLATES}/${pie.id}/purge`);
    const problem = expectProblem(await purge(), 409, 'resource_referenced');
    expect(problem['references']).toEqual([{ module: 'messaging', resource: 'templates', count: 1 }]);
    await patched(api, message.id, { ...mail('<p>Nada</p>'), publish: false });
    expectProblem(await purge(), 409, 'resource_referenced');
    await patched(api, message.id, { published_version: 2 });
    expectStatus(await purge(), 204);
    expect((await parts(api, message.id, { version: 1 }))['html']).toBe('<p>Calle 1</p>');
  });

  it('are another organization’s for nobody', async () => {
    const { api } = world.organization();
    await partial(world.organization().api, 'Pie', '<p>Theirs</p>');
    expect(await refused(api, mail(`{% render 'Pie' %}`))).toEqual(['/locales/es/html']);
  });
});

describe('a template that uses what it may not', () => {
  let api: Caller;
  beforeAll(async () => {
    ({ api } = world.organization());
    await partial(api, 'Pie', '<p>Pie</p>');
    await partial(api, 'Borrador', '<p>x</p>', { publish: false });
    await made(api, { name: 'Marco', kind: 'layout', locales: { es: { mjml: '<mj>{{content}}</mj>' } } });
  });

  it.each([
    [mail(`{% render 'Nadie' %}`), '/locales/es/html'],
    [mail(`{% render 'Borrador' %}`), '/locales/es/html'],
    [mail(`{% render 'Marco' %}`), '/locales/es/html'],
    [mail(`{% render 'Pie', x: 1 %}`), '/locales/es/html'],
    [mail('{% render data.name %}'), '/locales/es/html'],
    [mail(`{% include 'Pie' %}`), '/locales/es/html'],
    [{ locales: { es: { subject: `{% render 'Pie' %}`, html: 'x' } } }, '/locales/es/subject'],
    [mail('x', { layout: 'Pie' }), '/layout'],
    [mail('x', { layout: 'Nadie' }), '/layout'],
    // It has a frame for MJML alone.
    [mail('x', { layout: 'Marco' }), '/layout'],
    [{ kind: 'layout', locales: { es: { html: '<p>none</p>' } } }, '/locales/es/html'],
    [{ kind: 'layout', locales: { es: { html: '{{ content }}{{ content }}' } } }, '/locales/es/html'],
    [{ kind: 'partial', locales: { es: { html: '{% if %}' } } }, '/locales/es/html'],
  ])('%j is refused', async (body, pointer) => {
    expect(await refused(api, body)).toEqual([pointer]);
  });

  it.each([
    [{ kind: 'partial', layout: 'Marco', locales: { es: { html: 'x' } } }, '/layout'],
    [{ kind: 'partial', variables: { a: { type: 'string' } }, locales: { es: { html: 'x' } } }, '/variables'],
    [{ kind: 'partial', locales: { es: { subject: 'x', html: 'x' } } }, '/locales/es/subject'],
    [{ kind: 'block' }, '/kind'],
  ])('%j is no such content', async (body, pointer) => {
    const answer = await api.post<{ errors: { pointer: string }[] }>(TEMPLATES, aTemplate(body));
    expectStatus(answer, 400);
    expect(answer.body.errors.map((error) => error.pointer)).toEqual([pointer]);
  });

  it('keeps its kind', async () => {
    const { id } = await partial(api, 'Otro', '<p>Pie</p>');
    expectStatus(await api.patch(`${TEMPLATES}/${id}`, { kind: 'message' }), 400);
  });
});

describe('partials of bad will', () => {
  it('do not come around: neither by themselves nor by each other', async () => {
    const { api } = world.organization();
    const one = await partial(api, 'Uno', '<p>1</p>');
    const two = await partial(api, 'Dos', `{% render 'Uno' %}`);
    for (const [id, name] of [
      [one.id, 'Uno'],
      [one.id, 'Dos'],
    ] as const) {
      const answer = await api.patch(`${TEMPLATES}/${id}`, {
        locales: { es: { html: `{% render '${name}' %}` } },
      });
      expectProblem(answer, 422, 'template_invalid');
    }
    expect((await parts(api, two.id))['html']).toBe('<p>1</p>');
  });

  it('do not grow beyond what a part may have, however little it takes to write them', async () => {
    const { api } = world.organization();
    await partial(api, 'P0', 'x'.repeat(64 * 1_024));
    // Four of it are the whole of a part; a text of a few kilobytes names it a thousand times.
    expect(await refused(api, mail(`{% render 'P0' %}`.repeat(1_000)))).toEqual(['/locales/es/html']);
    await partial(api, 'P1', `{% render 'P0' %}`.repeat(2));
    expect(await refused(api, { kind: 'partial', ...mailParts(`{% render 'P1' %}`.repeat(2)) })).toEqual([
      '/locales/es/html',
    ]);
  });

  it('stand within one another five deep, and no deeper; twenty different ones in a template, and no more', async () => {
    const { api } = world.organization();
    await partial(api, 'D1', '<p>deep</p>');
    for (const depth of [2, 3, 4, 5]) await partial(api, `D${depth}`, `{% render 'D${depth - 1}' %}`);
    const { id } = await made(api, mail(`{% render 'D5' %}`));
    expect((await parts(api, id))['html']).toBe('<p>deep</p>');
    await partial(api, 'D6', `{% render 'D5' %}`);
    expect(await refused(api, mail(`{% render 'D6' %}`))).toEqual(['/locales']);
    const many = Array.from({ length: 21 }, (_, number) => `{% render 'M${number}' %}`).join('');
    expect(await refused(api, mail(many))).toEqual(['/locales']);
  });

  it('take the limits of a rendering like any text', async () => {
    const { api } = world.organization();
    await partial(
      api,
      'Bucle',
      '{% for a in (1..9999999) %}{% for b in (1..9999999) %}x{% endfor %}{% endfor %}',
    );
    const { id } = await made(api, mail(`{% render 'Bucle' %}`));
    const answer = await api.post(`${TEMPLATES}/${id}/preview`, {});
    expectProblem(answer, 422, 'render_limit_exceeded');
  });

  it('cannot close what they stand in to reach what is refused', async () => {
    const { api } = world.organization();
    await partial(api, 'Fin', '<!-- {{ data.a }} -->');
    for (const html of [`{{ "{% render 'Fin' %}" | raw }}`, `{% render 'Fin' %}{{ data.a | raw }}`])
      expect(await refused(api, mail(html))).toEqual(['/locales/es/html']);
  });
});

function mailParts(html: string) {
  return { locales: { es: { html } } };
}

describe('a template that puts in others', () => {
  it('has at most 2 MiB in all its languages together', async () => {
    const { api } = world.organization();
    await partial(api, 'terms', `<p>${'x'.repeat(240 * 1_024)}</p>`);
    const languages = ['es', 'en', 'fr', 'de', 'it', 'pt', 'nl', 'sv', 'da'];
    const body = (count: number) => ({
      locales: Object.fromEntries(
        languages
          .slice(0, count)
          .map((locale) => [locale, { subject: 'Hola', html: `{% render 'terms' %}`, text: 'Hola' }]),
      ),
    });
    expect((await made(api, body(8))).version).toBe(1);
    expect(await refused(api, body(9))).toEqual(['/locales']);
  });
});
