import { randomUUID } from 'node:crypto';
import type { Caller } from '@customer-platform/testing';
import {
  aContact,
  aSend,
  messagingWorld,
  send,
  settled,
  template,
  type MessagingWorld,
} from '../../messaging.fixture.js';

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
    expect(parts.html).toMatch(/<html [^>]*lang="es"/);
    expect(parts.html).toContain('<title>Pedido</title>');
    for (const content of [
      { template_id: id, content: undefined },
      { content: es, locale: 'es' },
    ]) {
      const address = `${randomUUID()}@example.com`;
      await settled(api, await send(api, aSend({ recipient: { address }, data, ...content })), 'sent');
      const [mail] = await world.mail.parsed(address);
      expect(mail?.html?.trim()).toBe(parts.html?.trim());
      expect(mail?.text?.trim()).toBe(parts.text?.trim());
    }
  });

  it('is in the language and zone of its contact, by a template and by a content of its own', async () => {
    const { id: organizationId, api } = world.organization();
    const contact = aContact({ locale: 'pt-BR', timezone: 'America/Sao_Paulo' });
    const { id: contactId, email } = contact;
    await world.probe.publish({
      type: 'core.contact.created.v1',
      organizationId,
      data: { contact_id: contactId, version: 1, changed_fields: [], contact },
    });
    const subject = 'R$ 5 & "{{ data.at | date: "%-d de %B, %H:%M" }}"';
    const written = { subject, mjml: MJML };
    const data = { at: '2026-03-01T01:30:00Z', order: '1', vip: false };
    const id = await template(api, { locales: { pt: written }, default_locale: 'pt' });
    const parts = await previewOnceKnown(api, id, { data, contact_id: contactId });
    expect(parts['subject']).toBe('R$ 5 & "28 de fevereiro, 22:30"');
    expect(parts['html']).toContain('<title>R$ 5 &amp; &quot;28 de fevereiro, 22:30&quot;</title>');
    const to = { recipient: { contact_id: contactId }, data, category: 'marketing' };
    for (const content of [{ template_id: id, content: undefined }, { content: written }])
      await settled(api, await send(api, aSend({ ...to, ...content })), 'sent');
    const mails = await world.mail.parsed(String(email));
    expect(mails.map((mail) => mail.subject)).toEqual([parts['subject'], parts['subject']]);
    for (const { text, html } of mails) {
      expect(text).toContain('Cancelar inscrição: ');
      expect(html).toContain('>Cancelar inscrição</a>');
      expect(html).toMatch(/<html [^>]*lang="pt(-BR)?"/);
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
