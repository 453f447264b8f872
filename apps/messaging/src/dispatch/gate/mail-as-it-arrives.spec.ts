import { randomUUID } from 'node:crypto';
import { Clock } from '@customer-platform/database';
import { eventually, type Caller } from '@customer-platform/testing';
import PostalMime, { type Email } from 'postal-mime';
import {
  aSend,
  messagingWorld,
  send,
  settled,
  shown,
  template,
  type MessagingWorld,
} from '../../messaging.fixture.js';

const SENDER = 'Zapatería Ñandú 日本 🎉, Ltda.';
const PREVIEW_TOKEN = /token=[\w.-]+/g;
const LINK = 'https://shop.example/pedido?a=1&b=ñ';

let world: MessagingWorld;
let ahead = 0;
beforeAll(async () => {
  world = await messagingWorld({ consume: false });
  world.app.app.get(Clock).now = () => new Date(Date.now() + ahead);
});
afterAll(() => world.close());
beforeEach(() => {
  world.mail.treat = () => undefined;
});

const header = (mail: Email | undefined, name: string): string | undefined =>
  mail?.headers.find(({ key }) => key === name)?.value;

/** An organization with a sender of its own. */
async function shop(): Promise<Caller> {
  const { api } = world.organization();
  const { hostname: host, port } = new URL(world.mail.url);
  const email = { provider: 'smtp', from: `${SENDER} <hola@bücher.example>`, reply_to: 'ayuda@shop.example' };
  const body = {
    channels: { email: { ...email, enabled: true, host, port: Number(port), security: 'none' } },
  };
  expect(await api.call('PUT', '/v1/messaging/channel-settings', { body })).toMatchObject({ status: 200 });
  return api;
}

async function arrived(
  api: Caller,
  body: Record<string, unknown>,
): Promise<{ mail: Email; raw: string; id: string }> {
  const address = `${randomUUID()}@example.com`;
  const id = await send(api, aSend({ recipient: { address }, ...body }));
  await settled(api, id, 'sent');
  const [found] = world.mail.to(address);
  if (!found) throw new Error('no mail came');
  return { mail: await PostalMime.parse(found.raw), raw: found.raw.toString('latin1'), id };
}

describe('a mail as it arrives', () => {
  it.each([
    ['of several scripts', 'Año nuevo 新年 🎉 Ζήτω Привет مرحبا'],
    ['long, of emoji that are several characters each', '👩‍👩‍👧‍👦🇨🇱👍🏽'.repeat(12)],
    ['long, of CJK without a space', '漢字かな交じり文'.repeat(20)],
    ['long, of plain words', 'A subject of many words '.repeat(15).trim()],
    ['long, of one plain word', 'x'.repeat(300)],
    ['that looks encoded', '=?utf-8?Q?not_encoded?= (really)'],
    ['with quotes and a colon', 'Re: "Ana" <ana@example.com>: 100 % \\o/'],
  ])('keeps a subject %s', async (_case, subject) => {
    const api = await shop();
    const { mail, raw, id } = await arrived(api, {
      content: { subject: '{{ data.subject }}', html: '<p>Ñ 漢 🎉</p>' },
      data: { subject },
    });
    expect(mail.subject).toBe(subject);
    expect((await shown(api, id)).subject).toBe(subject);
    expect(mail.from).toMatchObject({ name: SENDER, address: 'hola@xn--bcher-kva.example' });
    expect(mail.replyTo).toMatchObject([{ address: 'ayuda@shop.example' }]);
    expect(mail.html?.trim()).toBe('<p>Ñ 漢 🎉</p>');
    expect(mail.text?.trim()).toBe('Ñ 漢 🎉');
    const head = raw.slice(0, raw.indexOf('\r\n\r\n'));
    expect(head).toMatch(/^[\r\n\t\x20-\x7e]+$/);
    for (const line of raw.split('\r\n')) expect(line.length).toBeLessThanOrEqual(998);
  });

  it.each(['subject', 'html', 'text'])('holds no header that a value put into its %s', async (part) => {
    const api = await shop();
    const name = 'Ana\r\nBcc: evil@example.com\r\n\r\n\u2028X-Evil: 1\u0085<script>';
    const { mail, raw } = await arrived(api, {
      content: { subject: 's', html: 'h', text: 't', [part]: 'Hola {{ data.name }}' },
      data: { name },
    });
    expect(mail.headers.map(({ key }) => key).filter((key) => ['bcc', 'x-evil'].includes(key))).toEqual([]);
    expect(raw.match(/^to:/gim)).toHaveLength(1);
    expect(mail.html).not.toContain('<script>');
  });

  it('has both unsubscribe headers, and the link in both parts, as marketing alone', async () => {
    const api = await shop();
    const content = { subject: 's', html: '<p>Hola</p>' };
    const { mail: marketing } = await arrived(api, { content, category: 'marketing', locale: 'es' });
    expect(header(marketing, 'list-unsubscribe-post')).toBe('List-Unsubscribe=One-Click');
    const url = /^<(\S+)>$/.exec(header(marketing, 'list-unsubscribe') ?? '')?.[1];
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:8080\/v1\/messaging\/unsubscribe\?token=[\w-]+\.[\w-]+$/);
    expect(marketing.html).toContain(`href="${url}"`);
    expect(marketing.text).toContain(url);
    const { mail: transactional, raw } = await arrived(api, { content, category: 'transactional' });
    expect(transactional.headers.filter(({ key }) => key.startsWith('list-'))).toEqual([]);
    expect(raw).not.toContain('unsubscribe');
  });

  it('carries one Message-ID and one correlation id through all its attempts', async () => {
    const api = await shop();
    const address = `${randomUUID()}@example.com`;
    const correlationId = randomUUID();
    world.mail.treat = () => ({ code: 452, text: '4.2.2 full', after: 'content' });
    const accepted = await api.post<{ send_id: string }>(
      '/v1/messaging/sends',
      aSend({ recipient: { address } }),
      { 'idempotency-key': randomUUID(), 'x-correlation-id': correlationId },
    );
    const { send_id: id } = accepted.body;
    for (const [attempts, pause] of [
      [1, 31_000],
      [2, 121_000],
    ] as const) {
      await eventually(async () => expect(await shown(api, id)).toMatchObject({ attempts, state: 'gated' }));
      if (attempts === 2) world.mail.treat = () => undefined;
      ahead += pause;
    }
    const sent = await settled(api, id, 'sent');
    expect(sent.attempts).toBe(3);
    const refused = world.mail.refused.filter(({ to }) => to === address);
    const mails = await Promise.all(
      [...refused, ...world.mail.to(address)].map(({ raw }) => PostalMime.parse(raw)),
    );
    expect(mails.map(({ messageId }) => messageId)).toEqual(Array(3).fill(sent.provider_message_id));
    expect(sent.provider_message_id).toBe(`<${id}@xn--bcher-kva.example>`);
    expect(mails.map((mail) => header(mail, 'x-correlation-id'))).toEqual(Array(3).fill(correlationId));
  });

  it.each(["o'brien+news", 'UPPER.Case', 'a.b_c-d'])(
    'goes to the address that was checked, and says so: %s',
    async (local) => {
      const api = await shop();
      const tail = randomUUID();
      const given = { recipient: { address: `${local}@${tail}.BÜCHER.example` } };
      await settled(api, await send(api, aSend(given)), 'sent');
      const address = `${local}@${tail}.xn--bcher-kva.example`;
      // The server under test spells the domains of an envelope as people do.
      const envelope = `${local}@${tail}.bücher.example`;
      expect(world.mail.to(envelope).map(({ from }) => from)).toEqual(['hola@bücher.example']);
      const [mail] = await world.mail.parsed(envelope);
      expect(mail?.to).toEqual([{ address, name: '' }]);
      expect(mail?.cc ?? []).toEqual([]);
    },
  );

  it('is what the preview showed, byte by byte', async () => {
    const api = await shop();
    const html =
      '<h1>¡Hola {{ data.name }}!</h1><p><a href="{{ data.link }}">Ver</a> <a href="{{ unsubscribe_url }}">Salir</a></p>' +
      '{% for item in data.items %}<p>{{ item.n }} × {{ item.title | upcase }}</p>{% endfor %}';
    const templateId = await template(api, { locales: { es: { subject: '{{ data.name }} 🎉', html } } });
    const data = {
      name: 'Ñandú & "Söhne" 漢字',
      link: LINK,
      items: [
        { n: 2, title: 'a < b' },
        { n: 1, title: '👩‍👩‍👧‍👦' },
      ],
    };
    const preview = await api.post<{ parts: Record<string, string> }>(
      `/v1/messaging/templates/${templateId}/preview`,
      { data },
    );
    expect(preview.status).toBe(200);
    const body = { content: undefined, template_id: templateId, data, category: 'marketing' };
    const { mail } = await arrived(api, body);
    const withoutToken = (part: string | undefined): string =>
      (part ?? '').replaceAll(PREVIEW_TOKEN, 'token=');
    // The line that every part of a mail ends with.
    const asArrived = (part: string | undefined): Buffer =>
      Buffer.from(withoutToken(part).replace(/\n$/, ''));
    const { subject, html: shownHtml, text } = preview.body.parts;
    expect(mail.subject).toBe(subject);
    expect(asArrived(mail.html)).toEqual(Buffer.from(withoutToken(shownHtml)));
    expect(asArrived(mail.text)).toEqual(Buffer.from(withoutToken(text)));
    expect(text).toContain('a < b'.toUpperCase());
    expect(shownHtml).toContain('A &lt; B');
  });
});
