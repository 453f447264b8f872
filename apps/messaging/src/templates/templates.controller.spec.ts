import { randomUUID } from 'node:crypto';
import { itBehavesLikeASoftDeletableResource, type Caller } from '@customer-platform/testing';
import {
  aContact,
  aSend,
  aTemplate,
  messagingWorld,
  send,
  settled,
  template,
  type MessagingWorld,
} from '../messaging.fixture.js';

const TEMPLATES = '/v1/messaging/templates';

const MJML = `<mjml>
  <mj-body>
    <mj-section>
      <mj-column>
        <mj-text>Pedido {{ data.order }}{% if data.vip == true %} VIP{% endif %}</mj-text>
      </mj-column>
    </mj-section>
  </mj-body>
</mjml>`;

interface Shown {
  id: string;
  version: number;
  published_version: number | null;
  locales: Record<string, Record<string, string>>;
}

let world: MessagingWorld;
beforeAll(async () => {
  world = await messagingWorld();
});
afterAll(() => world.close());

describe('templates', () => {
  itBehavesLikeASoftDeletableResource({
    app: () => world.app,
    path: TEMPLATES,
    permissions: {
      read: 'messaging.templates.read',
      create: 'messaging.templates.create',
      update: 'messaging.templates.update',
      delete: 'messaging.templates.delete',
      purge: 'messaging.templates.purge',
    },
    body: (number) => aTemplate({ name: `Template ${number}` }),
    patch: (number) => ({ locales: { es: { subject: `Asunto ${number}` } } }),
    unique: 'name',
  });
});

describe('POST /v1/messaging/templates', () => {
  it.each([
    [{ locales: { es: { subject: '{{ unclosed', html: '<p>x</p>' } } }, '/locales/es/subject'],
    [{ locales: { es: { subject: 'x', html: '{% include "x" %}' } } }, '/locales/es/html'],
    [{ locales: { es: { subject: 'x', html: '{{ data.x | raw }}' } } }, '/locales/es/html'],
    [{ locales: { es: { subject: 'x', text: '{% if %}' } } }, '/locales/es/text'],
  ])('422 template_invalid for %j', async (content, pointer) => {
    const { api } = world.organization();
    const answer = await api.post<{ code: string; errors: { pointer: string; code: string }[] }>(
      TEMPLATES,
      aTemplate(content),
    );
    expect(answer).toMatchObject({
      status: 422,
      body: { code: 'template_invalid', errors: [{ pointer, code: 'template_invalid' }] },
    });
  });

  it.each([
    ['\n<mj-section><mj-foo /></mj-section>', /^Line 2: .*mj-foo/],
    ['<mj-section><mj-column><mj-text>{{ unclosed</mj-text></mj-column></mj-section>', /unclosed/],
    ['{% if data.a %}<mj-section />{% endif %}', /`mj-raw`/],
  ])('422 template_invalid with the line for the MJML %s', async (body, detail) => {
    const { api } = world.organization();
    const es = { subject: 'x', mjml: `<mjml><mj-body>${body}</mj-body></mjml>` };
    const error = { pointer: '/locales/es/mjml', code: 'template_invalid' };
    expect(await api.post(TEMPLATES, aTemplate({ locales: { es } }))).toMatchObject({
      status: 422,
      body: {
        code: 'template_invalid',
        errors: [{ ...error, detail: expect.stringMatching(detail) as string }],
      },
    });
    const { pointer, ...rest } = { ...error, pointer: '/content/mjml' };
    const sending = await api.post('/v1/messaging/sends', aSend({ content: es }), {
      'idempotency-key': randomUUID(),
    });
    expect(sending).toMatchObject({ status: 422, body: { errors: [{ pointer, ...rest }] } });
  });

  it('400 not_allowed for MJML beside HTML', async () => {
    const { api } = world.organization();
    const es = { subject: 'x', html: 'x', mjml: '<mjml><mj-body /></mjml>' };
    expect(await api.post(TEMPLATES, aTemplate({ locales: { es } }))).toMatchObject({
      status: 400,
      body: { errors: [{ pointer: '/locales/es/mjml', code: 'not_allowed' }] },
    });
  });

  it('takes a template of each channel', async () => {
    const { api } = world.organization();
    const parts = {
      sms: { text: 'x' },
      push: { title: 't', body: 'b' },
      in_app: { title: 't', body: 'b', url: 'https://a.example' },
      whatsapp: { text: 'x' },
    };
    for (const [channel, es] of Object.entries(parts)) {
      expect((await api.post(TEMPLATES, aTemplate({ channel, locales: { es } }))).status).toBe(201);
    }
  });
});

describe('PATCH /v1/messaging/templates/{id}', () => {
  async function change(api: Caller, id: string, patch: object): Promise<Shown> {
    const answer = await api.patch<Shown>(`${TEMPLATES}/${id}`, patch);
    if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
    return answer.body;
  }

  it('400 out_of_range for a version beyond what is counted to', async () => {
    const { api } = world.organization();
    const answer = await api.patch(`${TEMPLATES}/${await template(api)}`, { published_version: 6.7e307 });
    expect(answer).toMatchObject({
      status: 400,
      body: { errors: [{ pointer: '/published_version', code: 'out_of_range' }] },
    });
  });

  it('makes a version of each change of the content, drafts and rolls back', async () => {
    const { api } = world.organization();
    const id = await template(api);
    expect(await change(api, id, { name: 'Another name' })).toMatchObject({
      version: 1,
      published_version: 1,
    });
    expect(await change(api, id, { locales: { es: { subject: 'Two' } } })).toMatchObject({
      version: 2,
      published_version: 2,
    });
    expect(await change(api, id, { strict: false, publish: false })).toMatchObject({
      version: 3,
      published_version: 2,
    });
    expect(await change(api, id, { publish: true })).toMatchObject({ version: 3, published_version: 3 });
    expect(await change(api, id, { published_version: 1 })).toMatchObject({
      version: 3,
      published_version: 1,
    });
    const unknown = await api.patch(`${TEMPLATES}/${id}`, { published_version: 9 });
    expect(unknown).toMatchObject({
      status: 400,
      body: { errors: [{ pointer: '/published_version', code: 'out_of_range' }] },
    });
    const versions = await world.database.query(
      'SELECT version FROM template_versions WHERE template_id = $1 ORDER BY 1',
      [id],
    );
    expect(versions.map(({ version }) => version)).toEqual([1, 2, 3]);
  });

  it('writes an earlier content anew, and sends it at once or as a draft', async () => {
    const { api } = world.organization();
    const id = await template(api, { locales: { es: { subject: 'One', html: '<p>1</p>' } } });
    const second = { es: { subject: 'Two', html: '<p>2</p>' }, en: { subject: 'Two', text: '2' } };
    await change(api, id, { locales: second, strict: false });
    expect(await change(api, id, { revert_to: 1 })).toMatchObject({
      version: 3,
      published_version: 3,
      locales: { es: { subject: 'One', html: '<p>1</p>' } },
    });
    expect(await change(api, id, { revert_to: 2, publish: false })).toMatchObject({
      version: 4,
      published_version: 3,
      locales: second,
      strict: false,
    });
    // What is the newest content already makes no version; it is published all the same.
    expect(await change(api, id, { revert_to: 2 })).toMatchObject({ version: 4, published_version: 4 });
    const parts = await world.database.query(
      'SELECT version, parts FROM template_versions WHERE template_id = $1 ORDER BY version',
      [id],
    );
    expect([parts[2]?.parts, parts[3]?.parts]).toEqual([parts[0]?.parts, parts[1]?.parts]);
  });

  it.each([
    [{ revert_to: 7 }, 'revert_to', 'out_of_range'],
    [{ revert_to: 0 }, 'revert_to', 'out_of_range'],
    [{ revert_to: 1, strict: false }, 'strict', 'not_allowed'],
    [{ revert_to: 1, published_version: 1 }, 'published_version', 'not_allowed'],
  ])('400 for %j', async (patch, field, code) => {
    const { api } = world.organization();
    const answer = await api.patch(`${TEMPLATES}/${await template(api)}`, patch);
    expect(answer).toMatchObject({ status: 400, body: { errors: [{ pointer: `/${field}`, code }] } });
  });

  it('takes a locale away, but not the default one', async () => {
    const { api } = world.organization();
    const id = await template(api, {
      locales: { es: { subject: 'a', text: 'b' }, en: { subject: 'a', text: 'b' } },
    });
    expect(Object.keys((await change(api, id, { locales: { en: null } })).locales)).toEqual(['es']);
    const refused = await api.patch(`${TEMPLATES}/${id}`, {
      locales: { es: null, pt: { subject: 'a', text: 'b' } },
    });
    expect(refused).toMatchObject({ status: 400, body: { errors: [{ pointer: '/default_locale' }] } });
  });

  it('never changes the channel', async () => {
    const { api } = world.organization();
    const answer = await api.patch(`${TEMPLATES}/${await template(api)}`, { channel: 'sms' });
    expect(answer).toMatchObject({
      status: 400,
      body: { errors: [{ pointer: '/channel', code: 'immutable' }] },
    });
  });

  it('loses no version when several change at once', async () => {
    const { api } = world.organization();
    const id = await template(api);
    const changes = await Promise.all(
      Array.from({ length: 4 }, (_, n) =>
        api.patch<Shown>(`${TEMPLATES}/${id}`, { locales: { es: { subject: `S${n}` } } }),
      ),
    );
    const versions = changes.filter(({ status }) => status === 200).map(({ body }) => body.version);
    expect(new Set(versions).size).toBe(versions.length);
    expect((await api.get<Shown>(`${TEMPLATES}/${id}`)).body.version).toBe(1 + versions.length);
  });
});

describe('versions of a template', () => {
  const TEXTS = [
    { es: { subject: 'One', html: '<p>a</p>\n<p>b</p>\n<p>c</p>' }, en: { subject: 'One', text: 'x' } },
    { es: { subject: 'Two', html: '<p>a</p>\n<p>B</p>\n<p>c</p>' }, pt: { subject: 'Um', text: 'y' } },
  ];

  async function withTwo(api: Caller): Promise<string> {
    const id = await template(api, { locales: TEXTS[0] });
    await api.patch(`${TEMPLATES}/${id}`, {
      locales: { ...TEXTS[1], en: null },
      variables: { order: { type: 'string' } },
      publish: false,
    });
    return id;
  }

  it('are listed, newest first, and read with what they said', async () => {
    const { api } = world.organization();
    const id = await withTwo(api);
    expect((await api.get(`${TEMPLATES}/${id}/versions`)).body).toMatchObject({
      data: [
        { version: 2, published: false, default_locale: 'es', locales: ['es', 'pt'] },
        { version: 1, published: true, default_locale: 'es', locales: ['en', 'es'] },
      ],
      page: { next_cursor: null },
    });
    const first = await api.get<{ page: { next_cursor: string } }>(`${TEMPLATES}/${id}/versions?limit=1`);
    const rest = await api.get(
      `${TEMPLATES}/${id}/versions?limit=1&cursor=${encodeURIComponent(first.body.page.next_cursor)}`,
    );
    expect(rest.body).toMatchObject({ data: [{ version: 1 }] });
    expect((await api.get<Shown>(`${TEMPLATES}/${id}?version=1`)).body).toMatchObject({
      version: 1,
      published_version: 1,
      locales: TEXTS[0],
    });
    expect((await api.get<Shown>(`${TEMPLATES}/${id}`)).body).toMatchObject({
      version: 2,
      locales: TEXTS[1],
    });
  });

  it('differ by field and line', async () => {
    const { api } = world.organization();
    const id = await withTwo(api);
    expect((await api.get(`${TEMPLATES}/${id}/diff?from=1&to=2`)).body).toEqual({
      from: 1,
      to: 2,
      changes: [
        {
          pointer: '/locales/en/subject',
          kind: 'removed',
          unified: expect.stringContaining('-One') as string,
        },
        { pointer: '/locales/en/text', kind: 'removed', unified: expect.stringContaining('-x') as string },
        {
          pointer: '/locales/es/html',
          kind: 'changed',
          unified: expect.stringContaining(' <p>a</p>\n-<p>b</p>\n+<p>B</p>\n <p>c</p>') as string,
        },
        {
          pointer: '/locales/es/subject',
          kind: 'changed',
          unified: expect.stringContaining('+Two') as string,
        },
        { pointer: '/locales/pt/subject', kind: 'added', unified: expect.stringContaining('+Um') as string },
        { pointer: '/locales/pt/text', kind: 'added', unified: expect.stringContaining('+y') as string },
        {
          pointer: '/variables/order',
          kind: 'added',
          unified: expect.stringContaining('"string"') as string,
        },
      ],
    });
    expect((await api.get(`${TEMPLATES}/${id}/diff?from=2&to=2`)).body).toEqual({
      from: 2,
      to: 2,
      changes: [],
    });
  });

  it('are said to differ where they are too different to be told line by line', async () => {
    const { api } = world.organization();
    const lines = (of: string): string =>
      Array.from({ length: 25_000 }, (_, line) => `${of}${(line * 7_919) % 25_000}`).join('\n');
    const of = (name: string) => ({ es: { subject: 'a', text: lines(name) } });
    const id = await template(api, { locales: of('a') });
    expect((await api.patch(`${TEMPLATES}/${id}`, { locales: of('b') })).status).toBe(200);
    const neighbour = withTwo(api);
    expect((await api.get(`${TEMPLATES}/${id}/diff?from=1&to=2`)).body).toMatchObject({
      changes: [{ pointer: '/locales/es/text', kind: 'changed', unified: null }],
    });
    expect((await api.get(`${TEMPLATES}/${await neighbour}/diff?from=1&to=2`)).status).toBe(200);
  });

  it.each([
    ['?version=9', 'version', 'out_of_range'],
    ['?version=x', 'version', 'invalid_format'],
    ['?version=0', 'version', 'invalid_format'],
    ['/diff?from=1', 'to', 'required'],
    ['/diff?from=1&to=9', 'to', 'out_of_range'],
    ['/diff?from=1e9&to=1', 'from', 'invalid_format'],
    ['/diff?from=9&to=1', 'from', 'out_of_range'],
  ])('400 for %s', async (query, parameter, code) => {
    const { api } = world.organization();
    const answer = await api.get(`${TEMPLATES}/${await template(api)}${query}`);
    expect(answer).toMatchObject({ status: 400, body: { errors: [{ parameter, code }] } });
  });

  it('are not there for another organization, nor without the permission', async () => {
    const { id: organizationId, api } = world.organization();
    const id = await withTwo(api);
    const other = world.organization().api;
    const unable = world.app.as(organizationId, ['messaging.sends.read']);
    for (const path of ['?version=1', '/versions', '/diff?from=1&to=2']) {
      expect((await other.get(`${TEMPLATES}/${id}${path}`)).status).toBe(404);
      expect((await unable.get(`${TEMPLATES}/${id}${path}`)).status).toBe(403);
    }
  });
});

describe('DELETE /v1/messaging/templates/{id}/purge', () => {
  it('409 while an unfinished send uses it', async () => {
    const { api } = world.organization();
    const id = await template(api);
    const later = new Date(Date.now() + 3_600_000).toISOString();
    await send(api, aSend({ template_id: id, content: undefined, not_before: later }));
    await api.delete(`${TEMPLATES}/${id}`);
    const answer = await api.delete(`${TEMPLATES}/${id}/purge`);
    expect(answer).toMatchObject({
      status: 409,
      body: {
        code: 'resource_referenced',
        references: [{ module: 'messaging', resource: 'sends', count: 1 }],
      },
    });
  });
});

describe('POST /v1/messaging/templates/{id}/preview', () => {
  const content = {
    variables: { order: { type: 'string', required: true }, greeting: { type: 'string', default: 'Hola' } },
    locales: {
      es: {
        subject: '{{ data.greeting }} {{ contact.first_name }}',
        html: '<p>Pedido {{ data.order }} <a href="{{ unsubscribe_url }}">x</a></p>',
      },
      en: { subject: 'Hi {{ contact.first_name }}', html: '<p>Order {{ data.order }}</p>' },
    },
  };

  it('shows the bytes that are sent, token apart', async () => {
    const { id: organizationId, api } = world.organization();
    const contact = aContact({ first_name: 'Ñandú <b>' });
    const { id: contactId } = contact;
    await world.probe.publish({
      type: 'core.contact.created.v1',
      organizationId,
      data: { contact_id: contactId, version: 1, changed_fields: [], contact },
    });
    const id = await template(api, content);
    const data = { order: '<A&1>' };
    const preview = await previewOnceKnown(api, id, { data, contact_id: contactId });
    await settled(
      api,
      await send(
        api,
        aSend({ recipient: { contact_id: contactId }, template_id: id, content: undefined, data }),
      ),
      'sent',
    );
    const [mail] = await world.mail.parsed(String(contact.email));
    const withoutToken = (text: string | undefined): string =>
      (text ?? '').replace(/token=[\w.-]+/g, 'token=').trim();
    expect(mail?.subject).toBe(preview.subject);
    expect(preview.subject).toBe('Hola Ñandú <b>');
    expect(withoutToken(mail?.html)).toBe(withoutToken(preview.html));
    expect(withoutToken(mail?.text)).toBe(withoutToken(preview.text));
    expect(preview.html).toContain('Pedido &lt;A&amp;1&gt;');
    expect(preview.text).toContain('Pedido <A&1>');
  });

  it('of MJML shows the HTML that is sent, by a template and by a content of its own', async () => {
    const { api } = world.organization();
    const es = { subject: 'Pedido', mjml: MJML };
    const id = await template(api, { locales: { es } });
    expect((await api.get<Shown>(`${TEMPLATES}/${id}`)).body.locales).toEqual({ es });
    const data = { order: '<A&1>', vip: true };
    const { parts } = (
      await api.post<{ parts: Record<string, string> }>(`${TEMPLATES}/${id}/preview`, { data })
    ).body;
    expect(Object.keys(parts).sort()).toEqual(['html', 'subject', 'text']);
    expect(parts.html).toContain('Pedido &lt;A&amp;1&gt; VIP');
    expect(parts.html).not.toContain('<mj');
    expect(parts.text).toContain('Pedido <A&1> VIP');
    for (const content of [{ template_id: id, content: undefined }, { content: es }]) {
      const address = `${randomUUID()}@example.com`;
      await settled(api, await send(api, aSend({ recipient: { address }, data, ...content })), 'sent');
      const [mail] = await world.mail.parsed(address);
      expect(mail?.html?.trim()).toBe(parts.html?.trim());
      expect(mail?.text?.trim()).toBe(parts.text?.trim());
    }
  });

  async function previewOnceKnown(api: Caller, id: string, body: object): Promise<Record<string, string>> {
    for (;;) {
      const answer = await api.post<{ parts: Record<string, string> }>(`${TEMPLATES}/${id}/preview`, body);
      if (answer.status === 200) return answer.body.parts;
      // Until Kafka has told of the contact, core is asked, and in this test there is none.
      expect(answer.status).toBe(503);
    }
  }

  it('chooses the locale and the version', async () => {
    const { api } = world.organization();
    const id = await template(api, content);
    await api.patch(`${TEMPLATES}/${id}`, { locales: { en: { subject: 'Draft' } }, publish: false });
    const subject = async (body: object): Promise<string> =>
      (
        await api.post<{ parts: { subject: string } }>(`${TEMPLATES}/${id}/preview`, {
          data: { order: '1' },
          ...body,
        })
      ).body.parts.subject;
    expect(await subject({})).toBe('Hola');
    expect(await subject({ locale: 'en-GB' })).toBe('Hi');
    expect(await subject({ locale: 'en', version: 2 })).toBe('Draft');
    const unknown = await api.post(`${TEMPLATES}/${id}/preview`, { data: { order: '1' }, version: 7 });
    expect(unknown).toMatchObject({ status: 400, body: { errors: [{ pointer: '/version' }] } });
  });

  it('400 with the pointer of a required variable that is missing', async () => {
    const { api } = world.organization();
    const answer = await api.post(`${TEMPLATES}/${await template(api, content)}/preview`, {});
    expect(answer).toMatchObject({
      status: 400,
      body: { code: 'validation_failed', errors: [{ pointer: '/data/order', code: 'required' }] },
    });
  });

  it('422 render_failed and render_limit_exceeded, each with the part', async () => {
    const { api } = world.organization();
    const failing = await template(api, { locales: { es: { subject: '{{ data.nope }}', text: 'x' } } });
    expect(await api.post(`${TEMPLATES}/${failing}/preview`, {})).toMatchObject({
      status: 422,
      body: { code: 'render_failed' },
    });
    const looping = await template(api, {
      locales: {
        es: {
          subject: 'x',
          text: '{% for a in (1..9999) %}{% for b in (1..9999) %}{{ b }}{% endfor %}{% endfor %}',
        },
      },
    });
    expect(await api.post(`${TEMPLATES}/${looping}/preview`, {})).toMatchObject({
      status: 422,
      body: { code: 'render_limit_exceeded' },
    });
  });

  it('422 render_limit_exceeded for an SMS that its values make too long, as its send fails', async () => {
    const { api } = world.organization();
    const id = await template(api, { channel: 'sms', locales: { es: { text: '{{ data.text }}' } } });
    const preview = (text: string) => api.post(`${TEMPLATES}/${id}/preview`, { data: { text } });
    expect((await preview('a'.repeat(1_600))).status).toBe(200);
    const text = 'a'.repeat(1_601);
    expect(await preview(text)).toMatchObject({
      status: 422,
      body: { code: 'render_limit_exceeded', detail: expect.stringContaining('1600') },
    });
    const sms = {
      provider: 'http',
      url: 'http://127.0.0.1:9/',
      secret: `whsec_${'A'.repeat(32)}`,
      from: '+56961234567',
    };
    await api.call('PUT', '/v1/messaging/channel-settings', { body: { channels: { sms } } });
    const recipient = { address: '+56987654321' };
    const sent = await send(api, { channel: 'sms', recipient, template_id: id, data: { text } });
    expect(await settled(api, sent, 'failed')).toMatchObject({ reason: 'render_limit_exceeded' });
  });

  it('400 for a locale that is none', async () => {
    const { api } = world.organization();
    const answer = await api.post(`${TEMPLATES}/${await template(api)}/preview`, { locale: 'no locale' });
    expect(answer).toMatchObject({
      status: 400,
      body: { errors: [{ pointer: '/locale', code: 'invalid_format' }] },
    });
  });

  it('403 for a contact without the permission to read contacts', async () => {
    const { id: organizationId, api } = world.organization();
    const id = await template(api);
    const reader = world.app.as(organizationId, ['messaging.templates.read']);
    const answer = await reader.post(`${TEMPLATES}/${id}/preview`, { contact_id: randomUUID() });
    expect(answer).toMatchObject({
      status: 403,
      body: { code: 'permission_denied', permission: 'core.contacts.read' },
    });
  });

  it('warns of what its readers may stumble over', async () => {
    const { api } = world.organization();
    const es = { subject: 'a'.repeat(79), html: '<p>\n<img src="x"><a href="http://a.example">a</a></p>' };
    const id = await template(api, { locales: { es } });
    const answer = await api.post<{ warnings: { code: string; where: unknown }[] }>(
      `${TEMPLATES}/${id}/preview`,
      {},
    );
    expect(answer.body.warnings.map(({ code, where }) => [code, where])).toEqual([
      ['image_without_alt', { part: 'html', line: 2 }],
      ['link_not_https', { part: 'html', line: 2 }],
      ['subject_long', { part: 'subject', line: null }],
      ['unsubscribe_link_added', null],
    ]);
  });

  it('counts the segments of an SMS', async () => {
    const { api } = world.organization();
    const id = await template(api, { channel: 'sms', locales: { es: { text: `${'a'.repeat(161)}` } } });
    expect((await api.post(`${TEMPLATES}/${id}/preview`, {})).body).toMatchObject({ sms_segments: 2 });
  });
});
