import { randomUUID } from 'node:crypto';
import { eventually, type Caller } from '@customer-platform/testing';
import {
  aContact,
  aSend,
  messagingWorld,
  send,
  settled,
  type MessagingWorld,
} from '../../messaging.fixture.js';

let world: MessagingWorld;
beforeAll(async () => {
  world = await messagingWorld();
  world.probe.collect('messaging');
});
afterAll(() => world.close());

const SETTINGS = '/v1/messaging/channel-settings';
const ONE_CLICK = 'List-Unsubscribe=One-Click';
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

function marketing(address: string, overrides: Record<string, unknown> = {}) {
  return aSend({
    recipient: { address },
    category: 'marketing',
    content: { subject: 'Ofertas', html: '<p>Hola</p>', text: 'Hola' },
    ...overrides,
  });
}

/** Sends a marketing mail and gives the link of its header, as a path of the service under test. */
async function linkTo(
  api: Caller,
  address: string,
  overrides: Record<string, unknown> = {},
): Promise<string> {
  await settled(api, await send(api, marketing(address, overrides)), 'sent');
  const mail = (await world.mail.parsed(address)).at(-1);
  const header = mail?.headers.find(({ key }) => key === 'list-unsubscribe')?.value ?? '';
  const url = new URL(header.slice(1, -1));
  return `${world.app.url}${url.pathname}${url.search}`;
}

async function stateOf(
  api: Caller,
  address: string,
  overrides: Record<string, unknown> = {},
): Promise<string> {
  const id = await send(api, marketing(address, overrides));
  return (await settled(api, id, 'sent', 'opted_out', 'suppressed', 'failed')).state;
}

describe('GET /v1/messaging/unsubscribe', () => {
  it('shows a form without script and changes nothing, however often it is followed', async () => {
    const { api } = world.organization();
    const address = `${randomUUID()}@example.com`;
    const link = await linkTo(api, address);
    for (let times = 0; times < 3; times += 1) {
      const answer = await fetch(link, { headers: { 'accept-language': 'es-CL,es;q=0.9' } });
      expect(answer.status).toBe(200);
      expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
      expect(answer.headers.get('content-security-policy')).toMatch(
        /default-src 'none'.*frame-ancestors 'none'/,
      );
      expect(answer.headers.get('referrer-policy')).toBe('no-referrer');
      expect(answer.headers.has('set-cookie')).toBe(false);
      const page = await answer.text();
      expect(page).toMatch(/<html lang="es">[\s\S]*<form method="post" action="\?">/);
      expect(page).not.toMatch(/<script|@example\.com/);
    }
    expect((await fetch(link, { method: 'HEAD' })).status).toBe(200);
    expect(await stateOf(api, address)).toBe('sent');
  });

  it('names the topic, as text', async () => {
    const { api } = world.organization();
    await api.call('PUT', SETTINGS, {
      body: {
        channels: {
          email: {
            enabled: true,
            provider: 'smtp',
            from: 'hola@example.com',
            ...serverOf(),
            security: 'none',
          },
        },
        topics: [{ key: 'news', name: 'News & <b>more</b>', channels: ['email'], default: true }],
      },
    });
    const link = await linkTo(api, `${randomUUID()}@example.com`, { topic: 'news' });
    const page = await (await fetch(link)).text();
    expect(page).toContain('“News &#38; &#60;b&#62;more&#60;/b&#62;”');
    expect(page).toContain('<html lang="en">');
  });

  it('takes what others add to the address, from a browser and in one click', async () => {
    const { api } = world.organization();
    const link = `${await linkTo(api, `${randomUUID()}@example.com`)}&utm_source=news&fbclid=a%00b&x=%E4`;
    const [shown, ended] = [await fetch(link), await fetch(link, { method: 'POST' })];
    expect([shown.status, shown.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(ended.status).toBe(200);
    const twice = await fetch(`${link}&token=x`, { headers: { accept: 'text/html' } });
    expect([twice.status, twice.headers.get('content-type')]).toEqual([400, 'text/html; charset=utf-8']);
  });

  it('401 for a token that was altered, 400 without one', async () => {
    const { api } = world.organization();
    const link = await linkTo(api, `${randomUUID()}@example.com`);
    const last = link.at(-1) === 'A' ? 'B' : String.fromCharCode((link.at(-1) ?? 'B').charCodeAt(0) - 1);
    const altered = [
      `${link}x`,
      link.replace('token=', 'token=A'),
      link.slice(0, -3),
      `${link.slice(0, -1)}${last}`,
    ];
    for (const wrong of altered) {
      for (const method of ['GET', 'POST']) {
        const answer = await fetch(wrong, { method });
        expect([method, answer.status]).toEqual([method, 401]);
        expect(await answer.json()).toMatchObject({ code: 'invalid_signature' });
      }
    }
    const browser = { accept: 'text/html,application/xhtml+xml', 'accept-language': 'es-CL' };
    for (const method of ['GET', 'POST']) {
      const page = await fetch(altered[0] ?? '', { method, headers: browser });
      expect([page.status, page.headers.get('content-type')]).toEqual([401, 'text/html; charset=utf-8']);
      expect(await page.text()).toContain('Este enlace no funciona');
    }
    const bare = `${world.app.url}/v1/messaging/unsubscribe`;
    for (const method of ['GET', 'POST']) expect((await fetch(bare, { method })).status).toBe(400);
  });
});

function serverOf() {
  const { hostname, port } = new URL(world.mail.url);
  return { host: hostname, port: Number(port) };
}

describe('POST /v1/messaging/unsubscribe', () => {
  it.each([
    ['a form', () => ({ body: ONE_CLICK, headers: FORM })],
    [
      'a multipart form',
      () => {
        const body = new FormData();
        body.set('List-Unsubscribe', 'One-Click');
        return { body };
      },
    ],
    ['nothing', () => ({})],
  ])(
    'ends all marketing by one click as %s (RFC 8058), without cookies, repeatably',
    async (_name, request) => {
      const { id, api } = world.organization();
      const address = `${randomUUID()}@example.com`;
      const link = await linkTo(api, address);
      for (let times = 0; times < 3; times += 1) {
        const answer = await fetch(link, { method: 'POST', ...request() });
        expect(answer.status).toBe(200);
        expect(await answer.json()).toEqual({ channel: 'email', topic: null, subscribed: false });
      }
      expect(await stateOf(api, address)).toBe('opted_out');
      expect(await stateOf(api, address.toUpperCase())).toBe('opted_out');
      expect(await stateOf(api, address, { category: 'transactional' })).toBe('sent');
      expect(await stateOf(world.organization().api, address)).toBe('sent');
      const audited = await world.database.query(
        `SELECT actor_type, actor_id, changed_fields FROM audit_entries
        WHERE organization_id = $1 AND action = 'messaging.preferences.update'`,
        [id],
      );
      expect(audited).toEqual([
        {
          actor_type: 'system',
          actor_id: 'messaging.unsubscribe',
          changed_fields: ['channels.email.marketing'],
        },
      ]);
    },
  );

  it('takes the form of the page and the token as JSON', async () => {
    const { api } = world.organization();
    const [one, other] = [`${randomUUID()}@example.com`, `${randomUUID()}@example.com`];
    const base = `${world.app.url}/v1/messaging/unsubscribe`;
    const token = async (address: string) =>
      new URL(await linkTo(api, address)).searchParams.get('token') ?? '';
    const page = await fetch(`${base}?`, {
      method: 'POST',
      headers: FORM,
      body: new URLSearchParams({ token: await token(one) }),
    });
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(await page.text()).toContain('<p role="status">');
    const json = await fetch(base, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token: await token(other) }),
    });
    expect(await json.json()).toEqual({ channel: 'email', topic: null, subscribed: false });
    expect(await stateOf(api, one)).toBe('opted_out');
    expect(await stateOf(api, other)).toBe('opted_out');
  });

  it.each([
    ['application/json', '{"token": 1}', 400, 'validation_failed'],
    ['application/json', '{"tocken": "x"}', 400, 'validation_failed'],
    ['application/json', '{', 400, 'malformed_json'],
    ['multipart/form-data; boundary=x', 'no form', 400, 'malformed_request'],
    ['text/plain', 'token=x', 415, 'unsupported_media_type'],
    ['application/x-www-form-urlencoded', `token=${'x'.repeat(20_000)}`, 413, 'body_too_large'],
  ])('refuses %s: %.20s', async (type, body, status, code) => {
    const answer = await fetch(`${world.app.url}/v1/messaging/unsubscribe`, {
      method: 'POST',
      headers: { 'content-type': type },
      body,
    });
    expect([answer.status, ((await answer.json()) as { code: string }).code]).toEqual([status, code]);
  });

  it('ends the topic alone where the link is of one, and tells of the contact', async () => {
    const { id, api } = world.organization();
    await api.call('PUT', SETTINGS, {
      body: {
        channels: {
          email: {
            enabled: true,
            provider: 'smtp',
            from: 'hola@example.com',
            ...serverOf(),
            security: 'none',
          },
        },
        topics: [
          { key: 'news', name: 'News', channels: ['email'], default: true },
          { key: 'offers', name: 'Offers', channels: ['email'], default: true },
        ],
      },
    });
    const contact = aContact();
    const { email } = contact;
    await world.probe.publish({
      type: 'core.contact.created.v1',
      organizationId: id,
      data: { contact_id: contact.id, version: 1, changed_fields: [], contact },
    });
    await eventually(async () => {
      const known = await world.database.query('SELECT 1 FROM contacts WHERE id = $1', [contact.id]);
      expect(known).toHaveLength(1);
    });
    const link = await linkTo(api, email, { topic: 'news' });
    await fetch(link, { method: 'POST', headers: FORM, body: ONE_CLICK });
    expect(await stateOf(api, email, { topic: 'news' })).toBe('opted_out');
    expect(await stateOf(api, email, { topic: 'offers' })).toBe('sent');
    expect(await stateOf(api, email)).toBe('sent');
    const [event] = await world.probe.expectEvents('messaging.preference.changed.v1', id, 1);
    expect(event?.data).toEqual({
      contact_id: contact.id,
      channel: 'email',
      topic: 'news',
      subscribed: false,
    });
  });

  it('lets no hand-off begin after its 200', async () => {
    const { api } = world.organization();
    // Some mails are slow, each time the same ones.
    let mails = 0;
    world.mail.delay = () => ((mails += 1) * 17) % 40;
    const addresses = Array.from({ length: 20 }, () => `${randomUUID()}@example.com`);
    const links = await Promise.all(addresses.map((address) => linkTo(api, address)));
    const answeredAt = new Map<string, number>();
    /** How many mails have begun by the time the person has had enough: none, some, or all of those so far. */
    const begunTo = (address: string): number => world.mail.begun.filter(({ to }) => to === address).length;
    const sends = addresses.flatMap((address) =>
      Array.from({ length: 4 }, () => send(api, marketing(address))),
    );
    const ends = addresses.map(async (address, n) => {
      await eventually(() => expect(begunTo(address)).toBeGreaterThanOrEqual(n % 4), { within: 60_000 });
      const answer = await fetch(links[n] ?? '', { method: 'POST', headers: FORM, body: ONE_CLICK });
      answeredAt.set(address, performance.now());
      expect(answer.status).toBe(200);
    });
    await Promise.all([...sends, ...ends]);
    await eventually(
      async () => {
        expect(await world.database.query('SELECT 1 FROM sends WHERE due_at IS NOT NULL LIMIT 1')).toEqual(
          [],
        );
      },
      { within: 30_000 },
    );
    world.mail.delay = () => 0;
    expect(answeredAt.size).toBe(addresses.length);
    expect(world.mail.begun.filter(({ to, at }) => at > (answeredAt.get(to) ?? Infinity))).toEqual([]);
  });
});
