import { createHmac } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { type IncomingMessage, type Server, createServer, get as httpGet } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import nodemailer from 'nodemailer';
import { type SMTPServer } from 'smtp-server';
import { freePort } from '@customer-platform/kit/ports.ts';
import { type CaughtMessage, aMail, readHeaders } from './caught-message.ts';
import { reportComplaint } from './complaint.ts';
import { keepMail, recallMail } from './kept-mail.ts';
import { serveMailbox } from './mail-http.ts';
import { Mailbox } from './mailbox.ts';
import { listenForMail } from './smtp-listener.ts';

const CORRELATION = '0199aa3c-5b6e-8000-8000-0000000000aa';
const MAIL = {
  from: 'Tienda Ñandú <tienda@example.com>',
  to: 'ana@example.com',
  subject: '¡Gracias por tu compra! Ganaste 12 puntos, que ya están en tu cuenta y puedes canjear',
  headers: { 'X-Correlation-Id': CORRELATION },
  text: 'Una lámpara de araña',
  html: '<h1>Gracias</h1><script>alert(1)</script>',
  attachments: [{ filename: 'boleta.txt', content: 'total 12990' }],
};

let mailbox: Mailbox;
let smtp: SMTPServer;
let http: Server;
let url: string;
let smtpPort: number;
let complaints: CaughtMessage[];

beforeEach(async () => {
  mailbox = new Mailbox();
  complaints = [];
  smtpPort = await freePort();
  smtp = await listenForMail({ mailbox, port: smtpPort, onComplaint: (message) => complaints.push(message) });
  http = await serveMailbox(mailbox, 0);
  url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
});
afterEach(async () => {
  http.closeAllConnections();
  http.close();
  await new Promise<void>((done) => smtp.close(() => done()));
});

async function send(mail: Partial<typeof MAIL> = {}): Promise<void> {
  const transport = nodemailer.createTransport({ host: '127.0.0.1', port: smtpPort });
  await transport.sendMail({ ...MAIL, ...mail });
}

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- answers are read as they come; assertions judge them
const getJson = async (path: string) => (await fetch(url + path)).json() as any;

describe('mail by SMTP', () => {
  it('is listed with address, decoded subject and correlation id, and read whole', async () => {
    await send();
    const { data, kept } = await getJson('/messages');
    expect(kept).toBe(1);
    expect(data).toEqual([
      expect.objectContaining({
        channel: 'email',
        from: MAIL.from,
        to: ['ana@example.com'],
        subject: MAIL.subject,
        correlation_id: CORRELATION,
      }),
    ]);
    const message = await getJson(`/messages/${data[0].id}`);
    expect(message.text.trim()).toBe(MAIL.text);
    expect(message.html).toContain('<h1>Gracias</h1>');
    expect(message.attachments).toEqual([{ filename: 'boleta.txt', content_type: 'text/plain', size: 11 }]);
    expect(message.headers.map(({ name }: { name: string }) => name)).toContain('X-Correlation-ID');
    expect(await (await fetch(`${url}/messages/${data[0].id}/attachments/0`)).text()).toBe('total 12990');
    expect(await (await fetch(`${url}/messages/${data[0].id}/source`)).text()).toContain('MIME-Version: 1.0');
  });

  it.each([
    ['hardbounce@example.com', 550, '5.1.1'],
    ['HardBounce+tag@example.com', 550, '5.1.1'],
    ['softbounce@example.com', 451, '4.2.2'],
  ])('to %s is refused with %i %s', async (to, responseCode, enhanced) => {
    await expect(send({ to })).rejects.toMatchObject({
      responseCode,
      response: expect.stringContaining(enhanced),
    });
    expect(mailbox.count).toBe(0);
  });

  it('to complaint@ is taken and then reported', async () => {
    await send({ to: 'complaint@example.com' });
    expect(complaints.map(({ to }) => to)).toEqual([['complaint@example.com']]);
    expect(mailbox.count).toBe(1);
  });

  it('keeps up with a burst over many connections', async () => {
    const transport = nodemailer.createTransport({
      host: '127.0.0.1',
      port: smtpPort,
      pool: true,
      maxConnections: 8,
    });
    await Promise.all(
      Array.from({ length: 300 }, (_, n) => transport.sendMail({ ...MAIL, to: `c${n}@example.com` })),
    );
    transport.close();
    expect(mailbox.count).toBe(300);
    expect((await getJson('/messages?to=c299@example.com')).data).toHaveLength(1);
  });
});

describe('GET /messages', () => {
  it('filters by address, correlation id, channel and words, newest first, and pages', async () => {
    const words = ['', 'primero', 'segundo', 'tercero'];
    for (const n of [1, 2, 3]) await send({ to: `c${n}@example.com`, text: `Número ${words[n]}` });
    const to = async (query: string): Promise<string[]> =>
      (await getJson(`/messages?${query}`)).data.flatMap((message: CaughtMessage) => message.to);
    expect(await to('')).toEqual(['c3@example.com', 'c2@example.com', 'c1@example.com']);
    expect(await to('to=C2@EXAMPLE.com')).toEqual(['c2@example.com']);
    expect(await to('to=c@example.com')).toEqual([]);
    expect(await to(`correlation_id=${CORRELATION}&limit=1`)).toEqual(['c3@example.com']);
    expect(await to('correlation_id=other')).toEqual([]);
    expect(await to('channel=sms')).toEqual([]);
    expect(await to(`q=${encodeURIComponent('NÚMERO prim')}`)).toEqual(['c1@example.com']);
  });

  it('pages by cursor as every list does: a message that comes meanwhile moves nothing', async () => {
    for (const n of [1, 2, 3, 4]) await send({ to: `c${n}@example.com` });
    const walked: string[] = [];
    let cursor: string | null = '';
    let pages = 0;
    while (cursor !== null) {
      const { data, page } = await getJson(`/messages?limit=2${cursor ? `&cursor=${cursor}` : ''}`);
      expect(page.limit).toBe(2);
      walked.push(...data.flatMap(({ to }: CaughtMessage) => to));
      cursor = page.next_cursor;
      if ((pages += 1) === 1) await send({ to: 'meanwhile@example.com' });
    }
    expect([walked, pages]).toEqual([[4, 3, 2, 1].map((n) => `c${n}@example.com`), 2]);
    const { page } = await getJson('/messages?limit=1000');
    expect(page).toEqual({ limit: 200, next_cursor: null });
    expect((await getJson('/messages')).page.limit).toBe(50);
  });

  it('400 for an altered cursor and for one of another search', async () => {
    for (const n of [1, 2]) await send({ to: `c${n}@example.com` });
    const { page } = await getJson('/messages?limit=1');
    const altered = `x${page.next_cursor.slice(1)}`;
    expect(await getJson(`/messages?cursor=${altered}`)).toMatchObject({ code: 'invalid_cursor' });
    expect(await getJson('/messages?cursor=x')).toMatchObject({ code: 'invalid_cursor' });
    const other = await fetch(`${url}/messages?channel=email&cursor=${page.next_cursor}`);
    expect([other.status, await other.json()]).toMatchObject([400, { code: 'cursor_mismatch' }]);
  });

  it('waits for a message that is still to come', async () => {
    const waiting = getJson('/messages?to=late@example.com&wait=20');
    await send({ to: 'other@example.com' });
    await send({ to: 'late@example.com' });
    expect((await waiting).data).toHaveLength(1);
  });

  it.each(['limit=-1', 'limit=0', 'limit=x', 'before=1', 'channel=fax', 'too=ana@example.com'])(
    '400 for %s',
    async (query) => {
      expect((await fetch(`${url}/messages?${query}`)).status).toBe(400);
    },
  );
});

describe('messages of other channels', () => {
  const post = (body: unknown) => fetch(`${url}/messages`, { method: 'POST', body: JSON.stringify(body) });

  it('are taken as a provider takes them and read like mail', async () => {
    const answer = await post({
      channel: 'sms',
      to: '+56911112222',
      text: 'Ganaste 12 puntos',
      correlation_id: CORRELATION,
    });
    expect(answer.status).toBe(201);
    const { id, provider_message_id } = (await answer.json()) as Record<string, string>;
    expect(provider_message_id).toBe(id);
    expect(await getJson(`/messages/${id}`)).toMatchObject({
      channel: 'sms',
      to: ['+56911112222'],
      text: 'Ganaste 12 puntos',
      correlation_id: CORRELATION,
    });
    expect((await getJson('/messages?q=puntos&channel=sms')).data).toHaveLength(1);
  });

  it('are refused without channel or address', async () => {
    expect((await post({ to: '+56911112222' })).status).toBe(400);
    expect((await post({ channel: 'sms' })).status).toBe(400);
    expect((await fetch(`${url}/messages`, { method: 'POST', body: '{' })).status).toBe(400);
    expect((await post({ channel: 'sms', to: 'x', text: 'x'.repeat(70_000) })).status).toBe(413);
  });
});

describe('the page', () => {
  it('runs only its own script, and a mail none at all', async () => {
    const page = await fetch(`${url}/`);
    expect(await page.text()).toContain('<title>Mail catcher</title>');
    expect(page.headers.get('content-security-policy')).toMatch(/default-src 'none'.*script-src 'sha256-/);
    await send();
    const { data } = await getJson('/messages');
    const html = await fetch(`${url}/messages/${data[0].id}/html`);
    expect(html.headers.get('content-security-policy')).toMatch(
      /^sandbox(?!.*allow-scripts)(?!.*script-src).*default-src 'none'/,
    );
  });

  it('is not reached under another host name', async () => {
    const status = await new Promise((done) => {
      httpGet(`${url}/messages`, { headers: { host: 'attacker.example' } }, (answer) => {
        answer.resume();
        done(answer.statusCode);
      });
    });
    expect(status).toBe(403);
  });

  it('is told of changes as they happen', async () => {
    const changes = await fetch(`${url}/changes`);
    const reader = (changes.body as ReadableStream<Uint8Array>).getReader();
    const next = async () => new TextDecoder().decode((await reader.read()).value);
    expect(await next()).toContain('data: 0');
    await send();
    expect(await next()).toContain('data: 1');
    await reader.cancel();
  });

  it('empties the mailbox', async () => {
    await send();
    expect((await fetch(`${url}/messages`, { method: 'DELETE' })).status).toBe(204);
    expect((await getJson('/messages')).data).toEqual([]);
  });

  it('404 for a message that is not there', async () => {
    expect((await fetch(`${url}/messages/none`)).status).toBe(404);
    expect((await fetch(`${url}/nothing`)).status).toBe(404);
  });
});

describe('Mailbox', () => {
  const small = (n: number, bytes = 10) =>
    aMail(`m${n}`, Buffer.alloc(bytes, 'x'), { from: '', to: [`c${n}@example.com`] }, new Date(n));

  it('keeps the newest within its number and its bytes', () => {
    const box = new Mailbox({ messages: 5, bytes: 100 });
    for (let n = 0; n < 100; n += 1) box.take(small(n));
    expect([...box.newest()].map(({ id }) => id)).toEqual(['m99', 'm98', 'm97', 'm96', 'm95']);
    box.take(small(100, 75));
    expect([...box.newest()].map(({ id }) => id)).toEqual(['m100', 'm99', 'm98']);
    box.take(small(101, 1_000));
    expect([...box.newest()].map(({ id }) => id)).toEqual(['m101']);
    expect(box.everTaken).toBe(102);
  });

  it('comes back from its file as it was', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'kept-mail-'));
    try {
      const file = join(folder, 'mail', 'kept.jsonl');
      const box = new Mailbox();
      for (let n = 0; n < 3; n += 1) box.take(small(n));
      await keepMail(box, file);
      const again = new Mailbox();
      await recallMail(again, file);
      expect([...again.newest()]).toEqual([...box.newest()]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe('readHeaders', () => {
  it('unfolds, takes the first of a name, and stops at the empty line', () => {
    const headers = readHeaders(Buffer.from('Subject: a\r\n b\r\nX-A: 1\r\nx-a: 2\r\n\r\nX-B: body\r\n'));
    expect([...headers]).toEqual([
      ['subject', 'a b'],
      ['x-a', '1'],
    ]);
  });
});

describe('reportComplaint', () => {
  let server: Server;
  let received: { headers: IncomingMessage['headers']; body: string };
  let status = 200;
  beforeAll(async () => {
    server = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk) => (body += chunk));
      request.on('end', () => {
        received = { headers: request.headers, body };
        response.writeHead(status).end();
      });
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  });
  afterAll(() => void server.close());

  it('posts a signed report that names the mail by its Message-ID', async () => {
    const target = { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, secret: 'shared' };
    const message = aMail(
      'm1',
      Buffer.from('Message-ID: <1@example.com>\r\n\r\n'),
      { from: '', to: [] },
      new Date(0),
    );
    await reportComplaint(target, message, new Date('2026-11-21T10:00:00Z'));
    expect(JSON.parse(received.body)).toEqual({
      provider_message_id: '<1@example.com>',
      event: 'complained',
      occurred_at: '2026-11-21T10:00:00.000Z',
      provider_event_id: 'complaint-m1',
    });
    const timestamp = received.headers['x-timestamp'] as string;
    const expected = createHmac('sha256', 'shared').update(`${timestamp}.${received.body}`).digest('hex');
    expect(received.headers['x-signature']).toBe(`sha256=${expected}`);
    status = 401;
    await expect(reportComplaint(target, message)).rejects.toThrow('401');
  });
});
