import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { eventually, TEST_CERTIFICATE } from '@customer-platform/testing';
import { MailSink } from '../../../mail-sink.fixture.js';
import type { OutgoingMessage } from '../../../providers/transport-config.js';
import { Lease } from '../transport.js';
import { SmtpTransport } from './smtp-transport.js';

const open: { close(): Promise<void> }[] = [];

function message(to = 'ana@example.com', content = 'Subject: x\r\n\r\n.dot\r\nend\r\n'): OutgoingMessage {
  return {
    organizationId: 'organization',
    sendId: 'id',
    channel: 'email',
    to,
    from: 'shop@example.com',
    content: Buffer.from(content),
  };
}

const toOf = (line: string): string => /^RCPT TO:<(.*)>$/.exec(line)?.[1] ?? '';

function lease(milliseconds = 5_000): Lease {
  return Lease.from(performance.now(), milliseconds);
}

function transport(
  port: number,
  server: Partial<ConstructorParameters<typeof SmtpTransport>[0]['server']> = {},
): SmtpTransport {
  const made = new SmtpTransport({
    server: { host: '127.0.0.1', port, security: 'none', ...server },
    maxConnections: 3,
    resolve: (host) => Promise.resolve(host),
  });
  open.push(made);
  return made;
}

/** A server that says what a script tells it to; `null` hangs up. */
async function scripted(
  answer: (line: string, socket: Socket) => string | null | undefined,
): Promise<{ port: number; server: Server; lines: string[] }> {
  const lines: string[] = [];
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.write('220 scripted\r\n');
    let rest = '';
    socket.on('data', (chunk) => {
      rest += chunk.toString();
      for (let end = rest.indexOf('\r\n'); end >= 0; end = rest.indexOf('\r\n')) {
        const line = rest.slice(0, end);
        rest = rest.slice(end + 2);
        lines.push(line);
        const reply = answer(line, socket);
        if (reply === null) socket.destroy();
        else if (reply !== undefined) socket.write(`${reply}\r\n`);
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  open.push({ close: () => new Promise((resolve) => server.close(() => resolve())) });
  return { port: (server.address() as AddressInfo).port, server, lines };
}

afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
});

describe('SmtpTransport', () => {
  const sink = new MailSink();
  let port: number;
  beforeAll(async () => {
    port = await sink.start();
  });
  afterAll(() => sink.stop());
  beforeEach(() => {
    sink.mails.length = 0;
    sink.treat = () => undefined;
    sink.treatSender = () => undefined;
    sink.delay = () => 0;
  });

  it('hands a message over byte by byte, dots and all', async () => {
    const result = await transport(port).handOff(message(), lease());
    expect(result).toMatchObject({ outcome: 'sent', code: 250 });
    expect(sink.mails[0]).toMatchObject({ from: 'shop@example.com', to: 'ana@example.com' });
    expect(sink.mails[0]?.raw.toString()).toBe('Subject: x\r\n\r\n.dot\r\nend\r\n');
  });

  it('carries many over few connections', async () => {
    const pool = transport(port);
    const results = await Promise.all(
      Array.from({ length: 60 }, (_, n) => pool.handOff(message(`a${n}@example.com`), lease())),
    );
    expect(results.every(({ outcome }) => outcome === 'sent')).toBe(true);
    expect(new Set(sink.mails.map(({ to }) => to)).size).toBe(60);
  });

  it.each([
    [
      { code: 550, text: '5.1.1 no such user' },
      { outcome: 'bounced', code: 550, enhanced: '5.1.1', recipientGone: true },
    ],
    [
      { code: 550, text: '5.7.1 not wanted' },
      { outcome: 'bounced', code: 550, enhanced: '5.7.1' },
    ],
    [
      { code: 553, text: '5.1.7 bad sender' },
      { outcome: 'bounced', enhanced: '5.1.7' },
    ],
    [
      { code: 451, text: '4.3.0 later' },
      { outcome: 'deferred', code: 451, enhanced: '4.3.0' },
    ],
    [
      { code: 554, text: '5.6.0 spam', after: 'content' as const },
      { outcome: 'bounced', code: 554 },
    ],
    [
      { code: 452, text: '4.2.2 full', after: 'content' as const },
      { outcome: 'deferred', code: 452 },
    ],
  ])('reads the reply %j', async (treatment, expected) => {
    sink.treat = (address) => (address.startsWith('odd') ? treatment : undefined);
    const pool = transport(port);
    expect(await pool.handOff(message('odd@example.com'), lease())).toMatchObject(expected);
    expect(await pool.handOff(message('next@example.com'), lease())).toMatchObject({ outcome: 'sent' });
    expect(sink.mails.map(({ to }) => to)).toEqual(['next@example.com']);
  });

  it('lets a refused account cost one message an attempt, and others wait', async () => {
    sink.treatSender = () => ({ code: 530, text: '5.7.0 authenticate first' });
    const pool = transport(port);
    const ends = await Promise.all(Array.from({ length: 3 }, () => pool.handOff(message(), lease())));
    expect(ends.map(({ outcome }) => outcome).sort()).toEqual(['misconfigured', 'released', 'released']);
    expect(pool.capacity()).toBe(0);
  });

  it('begins nothing after the lease', async () => {
    const before = sink.begun.length;
    expect(await transport(port).handOff(message(), lease(0))).toEqual({ outcome: 'released' });
    expect(sink.begun).toHaveLength(before);
  });

  it('waits for the server when it is away, and goes on when it is back', async () => {
    const away = new MailSink();
    const freePort = await away.start();
    await away.stop();
    const pool = transport(freePort);
    const first = await Promise.all([pool.handOff(message(), lease()), pool.handOff(message(), lease())]);
    expect(first.map(({ outcome }) => outcome).sort()).toEqual(['deferred', 'released']);
    expect(pool.capacity()).toBe(0);
    await away.start();
    await eventually(() => expect(pool.capacity()).toBe(1));
    expect(await pool.handOff(message(), lease())).toMatchObject({ outcome: 'sent' });
    expect(pool.capacity()).toBeGreaterThan(3);
    await away.stop();
  });

  it('takes another connection when the server has closed the one that lay idle', async () => {
    const restarting = new MailSink();
    const pool = transport(await restarting.start());
    expect(await pool.handOff(message(), lease())).toMatchObject({ outcome: 'sent' });
    await restarting.stop();
    await restarting.start();
    expect(await pool.handOff(message(), lease())).toMatchObject({ outcome: 'sent' });
    await restarting.stop();
  });

  it('refuses an envelope that is not plain', async () => {
    const result = await transport(port).handOff(
      message('ana@example.com>\r\nRCPT TO:<evil@example.com'),
      lease(),
    );
    expect(result.outcome).toBe('deferred');
    expect(sink.mails).toHaveLength(0);
  });
});

describe('a server that does not take the account', () => {
  const hello = '250-scripted\r\n250-STARTTLS\r\n250 AUTH PLAIN';
  it.each([
    [
      'EHLO and HELO',
      (line: string) => (/^(EHLO|HELO)/.test(line) ? '550 5.7.1 not you' : undefined),
      'HELO',
      550,
    ],
    ['AUTH', (line: string) => (line.startsWith('EHLO') ? hello : '535 5.7.8 bad credentials'), 'AUTH', 535],
    [
      'a disabled one',
      (line: string) => (line.startsWith('EHLO') ? hello : '550 5.7.13 disabled'),
      'AUTH',
      550,
    ],
  ])('by its reply to %s', async (_what, answer, stage, code) => {
    const { port } = await scripted(answer);
    const end = await transport(port, { username: 'a', password: 'b' }).handOff(message(), lease());
    expect(end).toEqual({ outcome: 'misconfigured', stage, code });
  });

  it('at this moment only is tried again as usual', async () => {
    const { port } = await scripted((line) => (line.startsWith('EHLO') ? hello : '454 4.7.0 not now'));
    const end = await transport(port, { username: 'a', password: 'b' }).handOff(message(), lease());
    expect(end).toEqual({ outcome: 'deferred', stage: 'AUTH', code: 454 });
  });

  it.each([
    ['550 5.1.1 no such user', { outcome: 'bounced', recipientGone: true }],
    ['550 5.1.8 bad sender domain', { outcome: 'bounced' }],
    ['554 5.7.1 policy', { outcome: 'bounced' }],
    ['530 5.7.0 authenticate first', { outcome: 'misconfigured', stage: 'DATA' }],
  ])('or the message at DATA: %s', async (reply, expected) => {
    const { port } = await scripted((line) => {
      if (line.startsWith('EHLO')) return '250 scripted';
      return line === 'DATA' ? reply : '250 ok';
    });
    const [code, enhanced] = reply.split(' ');
    expect(await transport(port).handOff(message(), lease())).toEqual({
      code: Number(code),
      enhanced,
      ...expected,
    });
  });
});

describe('a server that breaks off', () => {
  const polite = (line: string): string | undefined => {
    if (line.startsWith('EHLO')) return '250-scripted\r\n250 PIPELINING';
    if (line === 'DATA') return '354 go on';
    if (/^(MAIL|RCPT|RSET)/.test(line)) return '250 ok';
    return undefined;
  };

  it.each([
    ['at the greeting', 'EHLO', 'deferred'],
    ['at the envelope', 'RCPT', 'deferred'],
    ['at DATA', 'DATA', 'deferred'],
    ['within the content', 'Subject', 'unknown'],
    ['after the content', '.', 'unknown'],
  ])('%s', async (_when, word, expected) => {
    const { port } = await scripted((line) =>
      line.startsWith(word) && (word !== '.' || line === '.') ? null : polite(line),
    );
    expect((await transport(port).handOff(message(), lease())).outcome).toBe(expected);
  });

  it('that falls silent is left when the lease ends', async () => {
    const { port } = await scripted((line) => (line.startsWith('Subject') ? undefined : polite(line)));
    expect((await transport(port).handOff(message(), lease(300))).outcome).toBe('unknown');
  });

  it('gets no content when it asks for it after a refused recipient', async () => {
    const { port, lines } = await scripted((line) =>
      line.startsWith('RCPT') ? '550 5.1.1 no' : polite(line),
    );
    expect(await transport(port).handOff(message(), lease())).toMatchObject({
      outcome: 'bounced',
      recipientGone: true,
    });
    expect(lines.filter((line) => line.startsWith('Subject'))).toEqual([]);
  });

  it('is signed in to anew after it has refused the account', async () => {
    let isOver = true;
    const { port, lines } = await scripted((line) => {
      if (line.startsWith('EHLO')) return '250 scripted';
      if (line === '.') return '250 2.0.0 taken';
      return line.startsWith('MAIL') && isOver ? '530 5.7.57 authenticate first' : polite(line);
    });
    const pool = transport(port);
    expect((await pool.handOff(message(), lease())).outcome).toBe('misconfigured');
    isOver = false;
    await eventually(() => expect(pool.capacity()).toBe(1));
    expect((await pool.handOff(message(), lease())).outcome).toBe('sent');
    expect(lines.filter((line) => line.startsWith('EHLO'))).toHaveLength(2);
  });

  it('is spoken to step by step when it does not pipeline', async () => {
    const { port, lines } = await scripted((line) => {
      if (line.startsWith('EHLO')) return '250 scripted';
      if (line === '.') return '250 2.0.0 taken';
      return polite(line);
    });
    expect(await transport(port).handOff(message(), lease())).toMatchObject({
      outcome: 'sent',
      enhanced: '2.0.0',
    });
    expect(lines.slice(1, 4)).toEqual(['MAIL FROM:<shop@example.com>', 'RCPT TO:<ana@example.com>', 'DATA']);
  });

  it('is not trusted with plain text when STARTTLS was asked for', async () => {
    const { port, lines } = await scripted(polite);
    expect(await transport(port, { security: 'starttls' }).handOff(message(), lease())).toEqual({
      outcome: 'misconfigured',
      stage: 'STARTTLS',
    });
    expect(lines.some((line) => line.startsWith('MAIL'))).toBe(false);
  });

  it('that speaks no SMTP is left', async () => {
    const { port } = await scripted(() => 'HTTP/1.1 400 Bad Request');
    expect((await transport(port).handOff(message(), lease())).outcome).toBe('misconfigured');
  });
});

describe('authentication and encryption', () => {
  it.each(['none', 'starttls', 'tls'] as const)('works over %s', async (security) => {
    const seen: unknown[] = [];
    const sink = new MailSink({
      ...TEST_CERTIFICATE,
      secure: security === 'tls',
      disabledCommands: security === 'starttls' ? [] : ['STARTTLS'],
      allowInsecureAuth: true,
      onAuth: ({ username, password }, session, done) => {
        seen.push([username, password, session.secure]);
        done(null, { user: username });
      },
    });
    const port = await sink.start();
    const server = {
      host: 'localhost',
      security,
      username: 'shop',
      password: 'pä55',
      ca: TEST_CERTIFICATE.cert,
    };
    const result = await transport(port, server).handOff(message(), lease());
    expect(result).toMatchObject({ outcome: 'sent' });
    expect(seen).toEqual([['shop', 'pä55', security !== 'none']]);
    await sink.stop();
  });

  it('refuses a certificate that nobody vouches for', async () => {
    const sink = new MailSink({ ...TEST_CERTIFICATE, secure: true });
    open.push({ close: () => sink.stop() });
    const pool = transport(await sink.start(), { host: 'localhost', security: 'tls' });
    expect(await pool.handOff(message(), lease())).toEqual({ outcome: 'misconfigured', stage: 'TLS' });
  });

  it('gives a connection to single mails before those of campaigns that wait for one', async () => {
    let end = (): void => undefined;
    const held = new Promise<void>((resolve) => (end = resolve));
    const { port: slow, lines } = await scripted((line, socket) => {
      if (line.startsWith('EHLO')) return '250 scripted';
      if (line.startsWith('MAIL')) {
        void held.then(() => socket.write('250 ok\r\n'));
        return undefined;
      }
      if (line === 'DATA') return '354 go on';
      return line === '.' || line.startsWith('RCPT') ? '250 ok' : undefined;
    });
    const pool = transport(slow);
    const sent = ['a', 'b', 'c', 'd', 'e'].map((name) =>
      pool.handOff({ ...message(`campaign-${name}@example.com`), patient: true }, lease()),
    );
    // All three connections are taken, and two of the campaign wait.
    await eventually(() => {
      expect(lines.filter((line) => line.startsWith('MAIL'))).toHaveLength(3);
    });
    sent.push(pool.handOff(message('single@example.com'), lease()));
    end();
    expect((await Promise.all(sent)).map(({ outcome }) => outcome)).toEqual(sent.map(() => 'sent'));
    const order = lines.map(toOf).filter(Boolean);
    expect(order.slice(0, 4)).toContain('single@example.com');
    expect(order.slice(4).every((to) => to.startsWith('campaign-'))).toBe(true);
  });
});
