import { randomUUID } from 'node:crypto';
import { newId } from '@customer-platform/database';
import { eventually, type Caller } from '@customer-platform/testing';
import {
  aSend,
  history,
  messagingWorld,
  send,
  settled,
  shown,
  type MessagingWorld,
} from '../../messaging.fixture.js';
import type { SMTPServerSession } from 'smtp-server';
import { ReturnLimits, ReturnListener } from './return-listener.js';
import { ReturnPaths } from '../../settings/sender-domains/return-paths.js';
import {
  aDeliveryReport,
  aFeedbackReport,
  aForwardedComplaint,
  deliver,
  RawConnection,
} from './returned-mails.fixture.js';

const HOST = 'bounces.platform.example';
const SUPPRESSIONS = '/v1/messaging/suppressions';

let world: MessagingWorld;
let port: number;
beforeAll(async () => {
  world = await messagingWorld({
    consume: false,
    env: { RETURN_HOST: HOST, RETURN_SMTP_PORT: '0' },
  });
  port = get(ReturnListener).port ?? 0;
});
afterAll(() => world.close());

const get = <T>(token: abstract new (...given: never[]) => T): T =>
  world.app.app.get(token as never, { strict: false });

interface Sent {
  readonly id: string;
  readonly api: Caller;
  readonly address: string;
  /** Where the mail would come back. */
  readonly path: string;
}

/** A mail that a server has taken, with the sender of its envelope. */
async function sent(given = world.organization()): Promise<Sent> {
  const address = `${randomUUID()}@example.com`;
  const id = await send(given.api, aSend({ recipient: { address } }));
  await settled(given.api, id, 'sent');
  const path = world.mail.to(address)[0]?.from ?? '';
  return { id, api: given.api, address, path };
}

async function reasonsOf(api: Caller): Promise<string[]> {
  const { body } = await api.get<{ data: { reason: string }[] }>(SUPPRESSIONS);
  return body.data.map(({ reason }) => reason);
}

describe('a mail that a server takes and returns later', () => {
  it('has a return path of its own, which no reader sees', async () => {
    const { path, address } = await sent();
    expect(path).toMatch(new RegExp(`^r[0-9a-z]{62}@${HOST}$`));
    const [mail] = await world.mail.parsed(address);
    expect(JSON.stringify(mail?.headers)).not.toContain(path);
  });

  it('is bounced, its address suppressed, before the report is answered; once, however often it comes', async () => {
    const { id, api, path } = await sent();
    await deliver(port, path, aDeliveryReport());
    expect(await shown(api, id)).toMatchObject({ state: 'bounced', reason: 'provider_rejected' });
    expect(await reasonsOf(api)).toEqual(['hard_bounce']);
    await deliver(port, path.toUpperCase(), aDeliveryReport());
    expect((await history(api, id)).filter(({ state }) => state === 'bounced')).toHaveLength(1);
  });

  it('bounces softly for what is not the address: nobody is suppressed by one', async () => {
    const { id, api, path } = await sent();
    await deliver(port, path, aDeliveryReport({ action: 'delayed', status: '4.4.1' }));
    expect(await shown(api, id)).toMatchObject({ state: 'sent' });
    await deliver(port, path, aDeliveryReport({ status: '5.2.2' }));
    expect(await shown(api, id)).toMatchObject({ state: 'bounced' });
    expect(await reasonsOf(api)).toEqual([]);
  });

  it('is delivered where a report says so', async () => {
    const { id, api, path } = await sent();
    await deliver(port, path, aDeliveryReport({ action: 'delivered', status: '2.0.0' }));
    expect(await shown(api, id)).toMatchObject({ state: 'delivered' });
  });

  it.each(['field', 'mail'] as const)(
    'is complained about by a feedback loop: path in the %s',
    async (within) => {
      const { id, api, path } = await sent();
      await deliver(
        port,
        `feedback@${HOST}`,
        aFeedbackReport(path, 'not-spam', within),
        'loop@mailbox.example',
      );
      expect(await shown(api, id)).toMatchObject({ state: 'sent' });
      await deliver(port, `feedback@${HOST}`, aFeedbackReport(path, 'abuse', within), 'loop@mailbox.example');
      expect(await shown(api, id)).toMatchObject({ state: 'complained' });
      expect(await reasonsOf(api)).toEqual(['complaint']);
    },
  );
});

it('is complained about by a provider that sends the mail on', async () => {
  const { id, api, path } = await sent();
  const mail = aForwardedComplaint(`X-HmXmrOriginalRecipient: ines@example.com\r\nReturn-Path: <${path}>`);
  await deliver(port, `feedback@${HOST}`, mail, 'staff@mailbox.example');
  expect(await shown(api, id)).toMatchObject({ state: 'complained' });
  expect(await reasonsOf(api)).toEqual(['complaint']);
});

it('bounces for good where the words say that there is no such user', async () => {
  const { id, api, path } = await sent();
  await deliver(port, path, aDeliveryReport({ status: '5.0.0', diagnostic: 'smtp; 550 User unknown' }));
  expect(await shown(api, id)).toMatchObject({ state: 'bounced' });
  expect(await reasonsOf(api)).toEqual(['hard_bounce']);
});

describe('mail of strangers', () => {
  it.each([`postmaster@${HOST}`, `PostMaster@${HOST}`, 'postmaster'])('is taken for %s', async (to) => {
    const connection = new RawConnection(port);
    await connection.hears('220');
    const mail = 'Subject: a question\r\n\r\nIs somebody there?\r\n.\r\n';
    connection.write(`HELO mx.example\r\nMAIL FROM:<>\r\nRCPT TO:<${to}>\r\nDATA\r\n`);
    await connection.hears('354');
    connection.write(`${mail}QUIT\r\n`);
    expect(await connection.ended).not.toMatch(/^5/m);
  });

  it.each([
    ['nobody', () => `somebody@${HOST}`],
    ['a path that nobody signed', () => `r${'0'.repeat(62)}@${HOST}`],
    ['a path beyond all numbers', () => `r${'z'.repeat(62)}@${HOST}`],
    ['a local part that is too long', () => `r${'a'.repeat(63)}@${HOST}`],
  ])('is refused for %s', async (_what, to) => {
    await expect(deliver(port, to(), aDeliveryReport())).rejects.toMatchObject({ responseCode: 550 });
  });

  it('is refused for a path of which anything is changed', async () => {
    const { id, api, path } = await sent();
    for (const at of [1, 20, 40, 62]) {
      const other = path[at] === 'a' ? 'b' : 'a';
      const forged = path.slice(0, at) + other + path.slice(at + 1);
      await expect(deliver(port, forged, aDeliveryReport())).rejects.toMatchObject({ responseCode: 550 });
    }
    expect(await shown(api, id)).toMatchObject({ state: 'sent' });
  });

  it('says nothing of another organization’s send, whatever it encloses', async () => {
    const [one, other] = [await sent(), await sent()];
    const enclosed = `Return-Path: <${other.path}>\r\nMessage-ID: <${other.id}@example.com>\r\n`;
    await deliver(port, one.path, aDeliveryReport({}, enclosed));
    expect(await shown(one.api, one.id)).toMatchObject({ state: 'bounced' });
    expect(await shown(other.api, other.id)).toMatchObject({ state: 'sent' });
    expect(await reasonsOf(other.api)).toEqual([]);
    const paths = get(ReturnPaths);
    const { id: organizationId } = world.organization();
    // Signed, of an organization that has no such send: kept for a send that may come, and nobody else's.
    const crossed = paths.of({ organizationId, id: one.id }, { domain: undefined, byPlatform: true }) ?? '';
    await deliver(port, crossed, aFeedbackReport(other.path));
    expect(await shown(other.api, other.id)).toMatchObject({ state: 'sent' });
  });

  it('is taken and changes nothing where it is no report, and nothing is ever sent in answer', async () => {
    const { id, api, path } = await sent();
    const before = world.mail.mails.length;
    const deep = Array.from(
      { length: 200 },
      (_, n) => `Content-Type: multipart/mixed; boundary="b${String(n)}"\r\n\r\n--b${String(n)}\r\n`,
    ).join('');
    for (const raw of [
      'Subject: Out of office\r\nAuto-Submitted: auto-replied\r\n\r\nI am away.',
      'no mail at all',
      '\r\n',
      deep,
      `Content-Type: multipart/report; boundary=b\r\n\r\n--b\r\nContent-Type: message/delivery-status\r\n\r\n--b--`,
      `X: ${'y'.repeat(200_000)}\r\n\r\n`,
    ])
      await deliver(port, path, raw, raw.length % 2 ? '' : 'person@example.com');
    expect(await shown(api, id)).toMatchObject({ state: 'sent' });
    expect(world.mail.mails).toHaveLength(before);
  });

  it('is read by its beginning where it is long, and refused where it is enormous', async () => {
    const { id, api, path } = await sent();
    await deliver(port, path, aDeliveryReport({}, 'x'.repeat(76).concat('\r\n').repeat(20_000)));
    expect(await shown(api, id)).toMatchObject({ state: 'bounced' });
    const enormous = Buffer.alloc(11 * 1_024 * 1_024, 'x'.repeat(70) + '\r\n');
    await expect(deliver(port, path, enormous)).rejects.toMatchObject({ responseCode: 552 });
  });

  it('has so many connections of one address, and others have theirs when these have gone', async () => {
    const { connectionsOfANetwork: most } = get(ReturnLimits);
    const open = Array.from({ length: most }, () => new RawConnection(port));
    for (const connection of open) expect(await connection.hears('220')).toContain('220');
    const more = new RawConnection(port);
    expect(await more.ended).toMatch(/^421/);
    for (const connection of open) connection.close();
    const { id, api, path } = await sent();
    await deliverWhenFree(path);
    expect(await shown(api, id)).toMatchObject({ state: 'bounced' });
  });

  it('has so many connections of one IPv6 network, whatever address of it each comes from', () => {
    const listener = get(ReturnListener);
    const { connectionsOfANetwork: most } = get(ReturnLimits);
    const from = (address: string, id: string): boolean =>
      listener['admit']({ id, remoteAddress: address } as SMTPServerSession) === null;
    const places = Array.from({ length: most }, (_, at) => from(`2001:db8:1:2::${String(at + 1)}`, `${at}`));
    expect(places).toEqual(places.map(() => true));
    expect(from('2001:db8:1:2:ffff::1', 'one more')).toBe(false);
    expect(from('2001:db8:1:3::1', 'another network')).toBe(true);
    for (const id of [...places.keys(), 'another network'])
      listener['release']({ id: String(id) } as SMTPServerSession);
    expect(from('2001:db8:1:2:ffff::1', 'later')).toBe(true);
    listener['release']({ id: 'later' } as SMTPServerSession);
  });

  it('comes in whatever connections others hold: the eldest of the network that has most gives way', async () => {
    const limits = get(ReturnLimits);
    const before = limits.connections;
    const { id, api, path } = await sent();
    await eventually(() => expect(get(ReturnListener)['open'].size).toBe(0));
    limits.connections = 6;
    const held: RawConnection[] = [];
    try {
      for (const [address, count] of [
        ['127.0.1.1', 4],
        ['127.0.2.1', 2],
      ] as const)
        for (let at = 0; at < count; at += 1) {
          const connection = new RawConnection(port, address);
          held.push(connection);
          expect(await connection.hears('220')).toContain('220');
        }
      await deliver(port, path, aDeliveryReport({}));
      expect(await held[0]?.ended).not.toMatch(/^421/m);
      expect(await shown(api, id)).toMatchObject({ state: 'bounced' });
      // Who has most itself makes nobody give way.
      held.push(new RawConnection(port, '127.0.1.1'));
      expect(await held.at(-1)?.hears('220')).toContain('220');
      limits.connections = 2;
      expect(await new RawConnection(port, '127.0.1.1').ended).toMatch(/^421/);
    } finally {
      limits.connections = before;
      for (const connection of held) connection.close();
    }
  });

  it('is cut off where it never ends', async () => {
    const limits = get(ReturnLimits);
    const before = limits.connectionMs;
    limits.connectionMs = 300;
    const { path } = await sent();
    const slow = new RawConnection(port);
    await slow.hears('220');
    limits.connectionMs = before;
    slow.write(`HELO mx.example\r\nMAIL FROM:<>\r\nRCPT TO:<${path}>\r\nDATA\r\nSubject: x`);
    const drip = setInterval(() => slow.write('x'), 20);
    expect(await slow.ended).toContain('220');
    clearInterval(drip);
  });

  it('has one recipient', async () => {
    const { path } = await sent();
    const connection = new RawConnection(port);
    await connection.hears('220');
    connection.write(`HELO mx.example\r\nMAIL FROM:<>\r\nRCPT TO:<${path}>\r\nRCPT TO:<${path}>\r\n`);
    expect(await connection.hears('452')).toMatch(/\n452 4\.5\.3/);
    connection.close();
  });
});

/** The server learns of the end of connections when it comes to it. */
async function deliverWhenFree(path: string): Promise<void> {
  for (;;) {
    try {
      return await deliver(port, path, aDeliveryReport());
    } catch (error) {
      if ((error as { responseCode?: number }).responseCode !== 421) throw error;
    }
  }
}

it('has no return path where the server is the organization’s and its domain has no record', async () => {
  const { id } = world.organization();
  const paths = get(ReturnPaths);
  const domain = (status: 'found' | 'missing') => ({
    ...{ organizationId: id, id: newId(), domain: 'own.example', dkimKeys: [] },
    findings: {
      'return_path bounces.own.example': { status, fault: null, at: new Date().toISOString() },
    },
  });
  const mail = { organizationId: id, id: newId() };
  expect(paths.of(mail, { domain: undefined, byPlatform: false })).toBeUndefined();
  expect(paths.of(mail, { domain: domain('missing'), byPlatform: false })).toBeUndefined();
  const path = paths.of(mail, { domain: domain('found'), byPlatform: false }) ?? '';
  expect(path).toMatch(/@bounces\.own\.example$/);
  expect(path.indexOf('@')).toBeLessThanOrEqual(64);
  expect(paths.read(path.slice(0, path.indexOf('@')))).toEqual(mail);
});
