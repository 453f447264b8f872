import { randomUUID } from 'node:crypto';
import { DnsServer, expectProblem, expectStatus, type Caller } from '@customer-platform/testing';
import { dkimVerify } from 'mailauth';
import { MESSAGING_CONFIG, type MessagingConfig } from '../../vocabulary/config/messaging.config.js';
import { aSend, messagingWorld, send, settled, type MessagingWorld } from '../../messaging.fixture.js';
import type { SenderDomainDto } from './sender-domain.dto.js';
import { beGenerous, DOMAINS } from './verification.fixture.js';

const SETTINGS = '/v1/messaging/channel-settings';

let world: MessagingWorld;
let dns: DnsServer;
/** What is published, as a verifier elsewhere finds it. */
const zone = new Map<string, string>();
beforeAll(async () => {
  dns = await DnsServer.start();
  world = await messagingWorld({ consume: false, env: { SENDER_DNS_SERVERS: dns.address } });
  beGenerous(world.app);
});
afterAll(async () => {
  await world.close();
  await dns.close();
});

function publish({ records }: SenderDomainDto, which = (_name: string) => true): void {
  for (const { purpose, name, value } of records) {
    if (zone.has(name) || (purpose === 'dkim' && !which(name))) continue;
    dns.publish({ name, value });
    zone.set(name, value);
  }
}

async function verify(api: Caller, id: string): Promise<SenderDomainDto> {
  const answer = await api.post<SenderDomainDto>(`${DOMAINS}/${id}/verify`);
  expectStatus(answer, 200);
  return answer.body;
}

/** An organization that sends from a verified domain. */
async function aSigningOrganization(which?: (name: string) => boolean) {
  const { id, api } = world.organization();
  const created = await api.post<SenderDomainDto>(DOMAINS, { domain: `m${randomUUID()}.example.com` });
  expectStatus(created, 201);
  publish(created.body, which);
  const domain = await verify(api, created.body.id);
  expect(domain.state).toBe('verified');
  return { id, api, domain, from: `Tienda Ñandú <hola@${domain.domain}>` };
}

/** Sends a mail and gives it as it came out of the SMTP server. */
async function arrived(api: Caller, body: Record<string, unknown>): Promise<Buffer> {
  const address = `${randomUUID()}@example.net`;
  await settled(api, await send(api, aSend({ recipient: { address }, ...body })), 'sent');
  const [mail] = world.mail.to(address);
  if (!mail) throw new Error('nothing arrived');
  return mail.raw;
}

/** What a verifier elsewhere says of each signature. */
async function verdicts(mail: Buffer) {
  const { results } = await dkimVerify(mail, {
    resolver: (name: string, type: string) => {
      const text = type === 'TXT' ? zone.get(name) : undefined;
      if (text === undefined) return Promise.reject(Object.assign(new Error('none'), { code: 'ENOTFOUND' }));
      return Promise.resolve([text.match(/.{1,255}/g) ?? []]);
    },
  });
  return results.map(({ status, signingDomain, selector, algo, signingHeaders }) => ({
    result: status.result,
    domain: signingDomain,
    selector,
    algorithm: algo,
    headers: (signingHeaders?.keys ?? '').toLowerCase().split(/\s*:\s*/),
  }));
}

describe('mail from a verified domain', () => {
  it('carries two signatures that a verifier elsewhere takes', async () => {
    const { api, domain, from } = await aSigningOrganization();
    const mail = await arrived(api, {
      from,
      content: {
        subject: 'Su pedido llegó: ñandú 🐦',
        text: 'Línea\n.\n..dots\n\ntrailing   \n\n\n',
        html: '<p>Grüße &amp; más</p>',
      },
    });
    const found = await verdicts(mail);
    expect(found.map(({ result, algorithm, selector }) => [result, algorithm, selector]).sort()).toEqual([
      ['pass', 'ed25519-sha256', `${domain.selector}-ed25519`],
      ['pass', 'rsa-sha256', domain.selector],
    ]);
    for (const { domain: signing, headers } of found) {
      expect(signing).toBe(domain.domain);
      expect(headers).toEqual(expect.arrayContaining(['from', 'to', 'subject', 'date', 'message-id']));
    }
  });

  it('covers both headers of one-click unsubscription', async () => {
    const { api, from } = await aSigningOrganization();
    const mail = await arrived(api, { from, category: 'marketing' });
    const found = await verdicts(mail);
    expect(found).toHaveLength(2);
    for (const { result, headers } of found) {
      expect(result).toBe('pass');
      expect(headers).toEqual(expect.arrayContaining(['list-unsubscribe', 'list-unsubscribe-post']));
    }
    const altered = (pattern: RegExp, text: string) => {
      const before = mail.toString('latin1');
      expect(before).toMatch(pattern);
      return verdicts(Buffer.from(before.replace(pattern, text), 'latin1'));
    };
    const tampered = await Promise.all([
      altered(/^List-Unsubscribe-Post:.*\r\n/im, ''),
      altered(/^List-Unsubscribe:\s*</im, 'List-Unsubscribe: <https://elsewhere.example/'),
      altered(/^Subject: .*\r\n/im, 'Subject: Other\r\n'),
      altered(/Hello there/, 'Hello where'),
    ]);
    for (const { result } of tampered.flat()) expect(result).not.toBe('pass');
  });

  it('is signed by the one key whose record is found', async () => {
    const { api, domain, from } = await aSigningOrganization((name) => !name.includes('ed25519'));
    const found = await verdicts(await arrived(api, { from }));
    expect(found.map(({ result, selector }) => [result, selector])).toEqual([['pass', domain.selector]]);
  });

  it('is valid before, during and after a rotation', async () => {
    const { api, domain, from } = await aSigningOrganization();
    const before = await arrived(api, { from });
    const rotated = await api.patch<SenderDomainDto>(`${DOMAINS}/${domain.id}`, { rotate_dkim: true });
    const during = await arrived(api, { from });
    publish(rotated.body);
    const switched = await verify(api, domain.id);
    expect(switched.selector).not.toBe(domain.selector);
    const after = await arrived(api, { from });
    const selectors: (string | undefined)[] = [];
    for (const mail of [before, during, after]) {
      const found = await verdicts(mail);
      expect(found.map(({ result }) => result)).toEqual(['pass', 'pass']);
      selectors.push(found.map(({ selector }) => selector).sort()[0]);
    }
    expect(selectors).toEqual([domain.selector, domain.selector, switched.selector]);
  });

  it('is signed for nobody else', async () => {
    const { domain, from } = await aSigningOrganization();
    const other = world.organization();
    expect(await verdicts(await arrived(other.api, { from }))).toEqual([
      expect.objectContaining({ result: 'none' }),
    ]);
    const below = `news@mail.${domain.domain}`;
    expect(await verdicts(await arrived(other.api, { from: below }))).toEqual([
      expect.objectContaining({ result: 'none' }),
    ]);
  });

  it('is signed no more once the domain is deleted', async () => {
    const { api, domain, from } = await aSigningOrganization();
    await api.delete(`${DOMAINS}/${domain.id}`);
    expect(await verdicts(await arrived(api, { from }))).toEqual([
      expect.objectContaining({ result: 'none' }),
    ]);
  });
});

describe('outside of local mode', () => {
  let production: MessagingWorld;
  const be = (changes: Partial<MessagingConfig>) =>
    Object.assign(production.app.app.get<MessagingConfig>(MESSAGING_CONFIG, { strict: false }), changes);
  beforeAll(async () => {
    production = await messagingWorld({
      consume: false,
      env: { SENDER_DNS_SERVERS: dns.address },
    });
    beGenerous(production.app);
    // The broker of tests has too few replicas for a whole production.
    be({ local: false, senderDomainsRequired: true });
  });
  afterAll(() => production.close());

  const http = (from: string, more: object = {}) => ({
    channels: {
      email: {
        provider: 'http',
        url: 'https://mail.example.com/',
        secret: `whsec_${'A'.repeat(32)}`,
        from,
        ...more,
      },
    },
  });

  it('settings, sends and hand-offs need a verified domain', async () => {
    const { id, api } = production.organization();
    const name = `m${randomUUID()}.example.com`;
    const put = (body: object) => api.call('PUT', SETTINGS, { body });
    const refused = expectProblem(await put(http(`Shop <a@${name}>`)), 422, 'sender_domain_unverified');
    expect(refused.errors).toEqual([expect.objectContaining({ pointer: '/channels/email/from' })]);
    expectStatus(await put(http(`Shop <a@${name}>`, { enabled: false })), 200);

    const { body: created } = await api.post<SenderDomainDto>(DOMAINS, { domain: name });
    expectProblem(await put(http(`a@${name}`)), 422, 'sender_domain_unverified');
    publish(created);
    await verify(api, created.id);
    expectStatus(await put(http(`Shop <a@${name.toUpperCase()}>`)), 200);

    const ask = (body: object) =>
      api.post<{ send_id: string }>('/v1/messaging/sends', aSend({ not_before: inAnHour(), ...body }), {
        'idempotency-key': randomUUID(),
      });
    const other = expectProblem(await ask({ from: 'a@other.example.com' }), 422, 'sender_domain_unverified');
    expect(other.errors).toEqual([expect.objectContaining({ pointer: '/from' })]);
    const below = await ask({ from: `a@mail.${name}` });
    expectProblem(below, 422, 'sender_domain_unverified');
    const accepted = await ask({});
    expectStatus(accepted, 202);

    // What was accepted is looked at again when it is to leave.
    await api.delete(`${DOMAINS}/${created.id}`);
    expectProblem(await ask({}), 422, 'sender_domain_unverified');
    await production.database.query(
      'UPDATE sends SET due_at = now() WHERE organization_id = $1 AND id = $2',
      [id, accepted.body.send_id],
    );
    expect(await settled(api, accepted.body.send_id, 'failed')).toMatchObject({
      reason: 'sender_domain_unverified',
    });
  });

  it('takes and accepts mail from all domains while they are not required', async () => {
    const { api } = production.organization();
    const from = `a@m${randomUUID()}.example.com`;
    be({ senderDomainsRequired: false });
    try {
      expectStatus(await api.call('PUT', SETTINGS, { body: http(from) }), 200);
      const body = aSend({ not_before: inAnHour() });
      expectStatus(await api.post('/v1/messaging/sends', body, { 'idempotency-key': randomUUID() }), 202);
    } finally {
      be({ senderDomainsRequired: true });
    }
    expectProblem(await api.call('PUT', SETTINGS, { body: http(from) }), 422, 'sender_domain_unverified');
  });
});

function inAnHour(): string {
  return new Date(Date.now() + 3_600_000).toISOString();
}
