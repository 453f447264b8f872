import { expectProblem, expectStatus, itBehavesLikeASoftDeletableResource } from '@customer-platform/testing';
import { messagingWorld, type MessagingWorld } from '../../messaging.fixture.js';
import { DkimKeyMaker } from './dkim-key-maker.js';
import type { SenderDomainDto } from './sender-domain.dto.js';

const DOMAINS = '/v1/messaging/sender-domains';

let world: MessagingWorld;
beforeAll(async () => {
  world = await messagingWorld({ consume: false });
});
afterAll(() => world.close());

describe('sender domains', () => {
  // Hundreds of RSA keys take longer than all else: here they are one.
  const maker = () => world.app.app.get(DkimKeyMaker, { strict: false });
  beforeAll(async () => {
    const one = await maker().rsa();
    maker().rsa = () => Promise.resolve(one);
  });
  afterAll(() => {
    maker().rsa = DkimKeyMaker.prototype.rsa;
  });

  itBehavesLikeASoftDeletableResource({
    app: () => world.app,
    path: DOMAINS,
    permissions: {
      read: 'messaging.domains.read',
      create: 'messaging.domains.create',
      update: 'messaging.domains.create',
      delete: 'messaging.domains.delete',
      purge: 'messaging.domains.purge',
    },
    body: (number) => ({ domain: `mail${String(number)}.example.com` }),
    patch: () => ({ rotate_dkim: true }),
    unique: 'domain',
  });
});

describe('POST /v1/messaging/sender-domains', () => {
  it('names the records to publish, and no private key is ever to be seen', async () => {
    const { id, api } = world.organization();
    const { status, body } = await api.post<SenderDomainDto>(DOMAINS, { domain: 'Mail.Ñandú.CL' });
    expect(status).toBe(201);
    expect(body).toMatchObject({ domain: 'mail.xn--and-6ma2c.cl', state: 'pending', verified_at: null });
    const { selector, domain } = body;
    expect(
      body.records.map(({ purpose, type, name, status, required }) => [
        purpose,
        type,
        name,
        status,
        required,
      ]),
    ).toEqual([
      ['ownership', 'TXT', `_customer-platform.${domain}`, 'unchecked', true],
      ['dkim', 'TXT', `${selector}._domainkey.${domain}`, 'unchecked', true],
      ['dkim', 'TXT', `${selector}-ed25519._domainkey.${domain}`, 'unchecked', false],
      ['spf', 'TXT', domain, 'unchecked', false],
      ['dmarc', 'TXT', `_dmarc.${domain}`, 'unchecked', false],
    ]);
    const read = await api.get(`${DOMAINS}/${body.id}`);
    const rotated = await api.patch(`${DOMAINS}/${body.id}`, { rotate_dkim: true });
    const listed = await api.get(DOMAINS);
    for (const answer of [body, read.body, rotated.body, listed.body])
      expect(JSON.stringify(answer)).not.toMatch(/sealed|private|fingerprint/i);
    const rows = await world.database.query(
      'SELECT dkim_keys FROM sender_domains WHERE organization_id = $1',
      [id],
    );
    expect(JSON.stringify(rows)).not.toContain('PRIVATE KEY');
  });

  it.each([
    'com',
    'co.uk',
    'github.io',
    '192.0.2.1',
    '[2001:db8::1]',
    'localhost',
    'shop.example.com.',
    'shop .example.com',
    'a@shop.example.com',
    'https://shop.example.com',
    'under_score.example.com',
    `${'a'.repeat(64)}.example.com`,
    '',
  ])('refuses %j', async (domain) => {
    const { api } = world.organization();
    const problem = expectProblem(await api.post(DOMAINS, { domain }), 400, 'validation_failed');
    expect(problem.errors).toEqual([expect.objectContaining({ pointer: '/domain' })]);
  });

  it('takes one spelling of a name for another', async () => {
    const { api } = world.organization();
    expectStatus(await api.post(DOMAINS, { domain: 'bücher.example.com' }), 201);
    const pasted = await api.post<SenderDomainDto>(DOMAINS, { domain: ' shop.example.com\u200b' });
    expect([pasted.status, pasted.body.domain]).toEqual([201, 'shop.example.com']);
    expectProblem(await api.post(DOMAINS, { domain: 'XN--BCHER-KVA.example.com' }), 409, 'duplicate_value');
  });

  it('gives each organization a proof and keys of its own for the same domain', async () => {
    const both = await Promise.all(
      [world.organization(), world.organization()].map(({ api }) =>
        api.post<SenderDomainDto>(DOMAINS, { domain: 'shared.example.com' }),
      ),
    );
    const [one, other] = both.map(({ body }) => body);
    for (const purpose of ['ownership', 'dkim']) {
      const values = [one, other].flatMap((domain) =>
        (domain?.records ?? []).filter((record) => record.purpose === purpose).map(({ value }) => value),
      );
      expect(new Set(values).size).toBe(values.length);
    }
    expect(one?.selector).not.toBe(other?.selector);
  });
});

describe('PATCH /v1/messaging/sender-domains/{id}', () => {
  it('cannot change the domain', async () => {
    const { api } = world.organization();
    const { body } = await api.post<SenderDomainDto>(DOMAINS, { domain: 'shop.example.com' });
    const problem = expectProblem(
      await api.patch(`${DOMAINS}/${body.id}`, { domain: 'other.example.com' }),
      400,
      'validation_failed',
    );
    expect(problem.errors).toEqual([expect.objectContaining({ pointer: '/domain', code: 'immutable' })]);
  });

  it('rotates once, however many ask at once, and shows both pairs', async () => {
    const { api } = world.organization();
    const { body } = await api.post<SenderDomainDto>(DOMAINS, { domain: 'shop.example.com' });
    const answers = await Promise.all(
      Array.from({ length: 5 }, () =>
        api.patch<SenderDomainDto>(`${DOMAINS}/${body.id}`, { rotate_dkim: true }),
      ),
    );
    for (const answer of answers) expectStatus(answer, 200);
    const read = await api.get<SenderDomainDto>(`${DOMAINS}/${body.id}`);
    expect(read.body.selector).toBe(body.selector);
    expect(read.body.records.filter(({ purpose }) => purpose === 'dkim')).toHaveLength(4);
    expect(new Set(answers.map((answer) => JSON.stringify(answer.body)))).toEqual(
      new Set([JSON.stringify(read.body)]),
    );
  });
});

describe('DELETE /v1/messaging/sender-domains/{id}/purge', () => {
  it('409 while the channel of mail sends from it', async () => {
    const { api } = world.organization();
    const { body } = await api.post<SenderDomainDto>(DOMAINS, { domain: 'shop.example.com' });
    const put = (from: string) =>
      api.call('PUT', '/v1/messaging/channel-settings', {
        body: {
          channels: { email: { provider: 'smtp', host: '127.0.0.1', port: 25, security: 'none', from } },
        },
      });
    expectStatus(await put('Shop <Hello@SHOP.example.com>'), 200);
    expectStatus(await api.delete(`${DOMAINS}/${body.id}`), 204);
    const problem = expectProblem(
      await api.delete(`${DOMAINS}/${body.id}/purge`),
      409,
      'resource_referenced',
    );
    expect(problem['references']).toEqual([{ module: 'messaging', resource: 'channel-settings', count: 1 }]);
    expectStatus(await put('hello@shop.example.com.cl'), 200);
    expectStatus(await api.delete(`${DOMAINS}/${body.id}/purge`), 204);
  });
});
