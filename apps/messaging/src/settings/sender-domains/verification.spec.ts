import { randomUUID } from 'node:crypto';
import { Clock } from '@customer-platform/database';
import { eventually, expectProblem, expectStatus } from '@customer-platform/testing';
import { DnsPatience } from './dns/dns-answers.js';
import type { SenderDomainDto } from './sender-domain.dto.js';
import {
  beGenerous,
  DOMAINS,
  HOUR,
  INCLUDED,
  record,
  verificationWorld,
  type VerificationWorld,
} from './verification.fixture.js';

let world: VerificationWorld;
beforeAll(async () => {
  world = await verificationWorld();
});
afterAll(() => world.close());

function statuses({ records }: SenderDomainDto): string[] {
  return records.map(({ purpose, status, fault }) => `${purpose} ${fault ?? status}`);
}

describe('POST /v1/messaging/sender-domains/{id}/verify', () => {
  it('verifies by all records, long ones by TCP in pieces', async () => {
    const domain = await world.aDomain();
    expect(statuses(await domain.verify())).toEqual([
      'ownership missing',
      'dkim missing',
      'dkim missing',
      'spf missing',
      'dmarc missing',
    ]);
    expect((await domain.read()).state).toBe('pending');
    world.publish(domain.body);
    const verified = await domain.verify();
    expect(verified.state).toBe('verified');
    expect(statuses(verified)).toEqual([
      'ownership found',
      'dkim found',
      'dkim found',
      'spf found',
      'dmarc found',
    ]);
    expect(verified.verified_at).toBe(record(verified, 'ownership').checked_at);
    const { name } = record(verified, 'dkim');
    expect(world.dns.asked.filter((each) => each.name === name).map(({ by }) => by)).toEqual([
      'udp',
      'udp',
      'tcp',
    ]);
  });

  it('needs ownership and the RSA key, and nothing else', async () => {
    const domain = await world.aDomain();
    world.publish(domain.body, 'ownership');
    expect((await domain.verify()).state).toBe('pending');
    world.dns.publish(record(domain.body, 'dkim'));
    expect((await domain.verify()).state).toBe('verified');
  });

  it('verifies for the organization that proves it, and not for the other', async () => {
    const name = `m${randomUUID()}.example.com`;
    const [owner, other] = [await world.aDomain(name), await world.aDomain(name)];
    world.publish(owner.body);
    world.publish(other.body, 'dkim');
    expect((await owner.verify()).state).toBe('verified');
    const refused = await other.verify();
    expect(refused.state).toBe('pending');
    expect(record(refused, 'ownership')).toMatchObject({ status: 'wrong', fault: 'other_value' });
    world.publish(other.body, 'ownership');
    expect((await other.verify()).state).toBe('verified');
    expect((await owner.verify()).state).toBe('verified');
  });

  it('follows aliases, and takes a loop of them for nothing', async () => {
    const domain = await world.aDomain();
    world.publish(domain.body, 'ownership');
    const dkim = record(domain.body, 'dkim');
    const target = `keys.${randomUUID()}.example.com`;
    world.dns.alias(dkim.name, target);
    world.dns.publish({ name: target, value: dkim.value });
    expect((await domain.verify()).state).toBe('verified');
    world.dns.alias(target, dkim.name);
    world.dns.withdraw({ name: target });
    expect(record(await domain.verify(), 'dkim').status).toBe('missing');
  });

  it.each([
    ['another key', (value: string) => [value.replace(/p=.{8}/, 'p=AAAAAAAA')], 'other_value'],
    ['no key any more', () => ['v=DKIM1; k=rsa; p='], 'revoked'],
    ['several', (value: string) => [value, value], 'several_records'],
    ['no tags', () => ['hello'], 'invalid'],
    ['another hash', (value: string) => [`${value}; h=sha1`], 'invalid'],
    ['a tag twice', (value: string) => [`${value}; k=rsa`], 'invalid'],
    ['more than anybody publishes', () => Array<string>(201).fill('x'), 'too_large'],
    ['a flood', () => ['y'.repeat(60_000)], 'too_large'],
  ])('DKIM: %s', async (_, values, fault) => {
    const domain = await world.aDomain();
    const { name, value } = record(domain.body, 'dkim');
    for (const each of values(value)) world.dns.publish({ name, value: each });
    expect(record(await domain.verify(), 'dkim')).toMatchObject({ status: 'wrong', fault });
  });

  it('DKIM: takes the key with other space and order', async () => {
    const domain = await world.aDomain();
    const { name, value } = record(domain.body, 'dkim');
    const key = value.slice(value.indexOf('p=') + 2);
    world.dns.publish({
      name,
      value: ` p=${key.slice(0, 40)} ${key.slice(40)} ;t=s; s=email:other;h=sha1:sha256;`,
    });
    expect(record(await domain.verify(), 'dkim')).toMatchObject({ status: 'found', fault: null });
  });

  it.each([
    [[`v=spf1 include:${INCLUDED} ~all`], 'found'],
    [[`v=spf1 redirect=${INCLUDED}`], 'found'],
    [
      [
        `V=SPF1 a mx:mail.example.com/24 ip6:2001:db8::/32 exists:%{i}.example.com include:${INCLUDED} exp=x -all`,
      ],
      'found',
    ],
    [['some text', `v=spf1 include:${INCLUDED} -all`, 'v=spf10 all'], 'found'],
    [['some text'], 'missing'],
    [['v=spf1 -all'], 'not_included'],
    [[`v=spf1 -all redirect=${INCLUDED}`], 'not_included'],
    [[`v=spf1 include:${INCLUDED} -all`, 'v=spf1 -all'], 'several_records'],
    [[`v=spf1 include:${INCLUDED} +all`], 'permits_all'],
    [[`v=spf1 include:${INCLUDED} everybody -all`], 'invalid'],
    [['v=spf1 include:nowhere.example.com -all'], 'invalid'],
    [['v=spf1 include:db.internal -all'], 'invalid'],
    [[`v=spf1 ${'a '.repeat(9)}include:${INCLUDED} -all`], 'found'],
    [[`v=spf1 ${'a '.repeat(10)}include:${INCLUDED} -all`], 'too_many_lookups'],
  ])('SPF: %j is %s', async (values, expected) => {
    const domain = await world.aDomain();
    for (const value of values) world.dns.publish({ name: domain.body.domain, value });
    expect(statuses(await domain.verify())).toContain(`spf ${expected}`);
  });

  it('SPF: ends where includes do not', async () => {
    const domain = await world.aDomain();
    const link = (at: number) => `i${String(at)}.${domain.body.domain}`;
    world.dns.publish({ name: domain.body.domain, value: `v=spf1 include:${link(0)} -all` });
    for (let at = 0; at < 100; at += 1)
      world.dns.publish({ name: link(at), value: `v=spf1 include:${link(at + 1)} include:${link(0)} -all` });
    expect(statuses(await domain.verify())).toContain('spf too_many_lookups');
    expect(world.dns.asked.filter(({ name }) => name.endsWith(`.${domain.body.domain}`)).length).toBeLessThan(
      20,
    );
    const loop = await world.aDomain();
    world.dns.publish({ name: loop.body.domain, value: `v=spf1 include:${loop.body.domain} -all` });
    expect(statuses(await loop.verify())).toContain('spf too_many_lookups');
  });

  it.each([
    ['v=DMARC1; p=reject; rua=mailto:x@example.com', 'found'],
    ['v=DMARC1;p=quarantine', 'found'],
    ['v=DMARC1; p=everything', 'invalid'],
    ['v=DMARC1', 'invalid'],
    ['DMARC1', 'missing'],
  ])('DMARC: %s is %s', async (value, expected) => {
    const domain = await world.aDomain();
    world.dns.publish({ name: `_dmarc.${domain.body.domain}`, value });
    expect(statuses(await domain.verify())).toContain(`dmarc ${expected}`);
  });

  it('DMARC: holds for the domains below', async () => {
    const registered = `shop-${randomUUID()}.com`;
    const domain = await world.aDomain(`mail.news.${registered}`);
    world.dns.publish({ name: `_dmarc.${registered}`, value: 'v=DMARC1; p=none' });
    expect(statuses(await domain.verify())).toContain('dmarc found');
  });

  it.each(['SERVFAIL', 'REFUSED', 'garbage'] as const)('%s changes nothing', async (fault) => {
    const domain = await world.aDomain();
    world.publish(domain.body);
    const before = await domain.verify();
    for (const { name } of before.records) world.dns.fail(name, fault);
    expect(await domain.verify()).toEqual(before);
    await world.age(domain, 100 * HOUR);
    await world.recheck();
    expect(await domain.read()).toMatchObject({ state: 'verified', records: before.records });
    expect(await world.told(domain)).toEqual(['verified']);
  });

  it('answers though name servers hang, and changes nothing', async () => {
    const domain = await world.aDomain();
    world.publish(domain.body);
    const before = await domain.verify();
    for (const { name } of before.records) world.dns.fail(name, 'hang');
    const patience = world.messaging.app.app.get(DnsPatience, { strict: false });
    Object.assign(patience, new DnsPatience());
    try {
      expect(await domain.verify()).toEqual(before);
    } finally {
      beGenerous(world.messaging.app);
    }
  });

  it('lets one silent name server stand for one record', async () => {
    const domain = await world.aDomain();
    world.publish(domain.body);
    const verified = await domain.verify();
    world.dns.fail(record(verified, 'ownership').name, 'SERVFAIL');
    world.dns.withdraw(record(verified, 'dmarc'));
    const after = await domain.verify();
    expect(record(after, 'ownership')).toEqual(record(verified, 'ownership'));
    expect(record(after, 'dmarc').status).toBe('missing');
    expect(after).toMatchObject({ state: 'verified', failing_since: null });
  });

  it('is told of once, however many ask at once', async () => {
    const domain = await world.aDomain();
    world.publish(domain.body);
    const answers = await Promise.all(Array.from({ length: 5 }, () => domain.verify()));
    for (const { state } of answers) expect(state).toBe('verified');
    expect(await world.told(domain)).toEqual(['verified']);
  });

  it('lets the later question stand, whichever answer comes last', async () => {
    const domain = await world.aDomain();
    world.dns.hold();
    const early = domain.verify();
    const { name } = record(domain.body, 'ownership');
    await eventually(() => expect(world.dns.asked.some((each) => each.name === name)).toBe(true));
    // The first question is still open, and will find nothing; the second finds all.
    const answers = world.dns.takeHeld();
    world.publish(domain.body);
    expect((await domain.verify()).state).toBe('verified');
    answers();
    expect((await early).state).toBe('verified');
    expect(await world.told(domain)).toEqual(['verified']);
  });

  it('takes 30 calls a minute of an organization, on whichever instance', async () => {
    const domain = await world.aDomain();
    const clock = world.messaging.app.app.get(Clock, { strict: false });
    const at = new Date(Math.ceil(Date.now() / 60_000) * 60_000);
    const now = clock.now.bind(clock);
    clock.now = () => at;
    try {
      await world.messaging.database.query('INSERT INTO sender_domain_calls VALUES ($1, $2, 29)', [
        domain.organizationId,
        at,
      ]);
      await domain.verify();
      const refused = await domain.api.post(`${DOMAINS}/${domain.body.id}/verify`);
      expect(expectProblem(refused, 429, 'rate_limited')['scope']).toBe('organization');
      expect(refused.headers.get('retry-after')).toBe('60');
      await (await world.aDomain()).verify();
    } finally {
      clock.now = now;
    }
  });

  it('409 for a deleted one, 404 for another’s, 403 without the permission', async () => {
    const [domain, other] = [await world.aDomain(), await world.aDomain()];
    const path = `${DOMAINS}/${domain.body.id}`;
    expectProblem(await other.api.post(`${path}/verify`), 404, 'not_found');
    const reader = world.messaging.app.as(domain.organizationId, [
      'messaging.domains.read',
      'messaging.domains.create',
    ]);
    expectProblem(await reader.post(`${path}/verify`), 403, 'permission_denied');
    const verifier = world.messaging.app.as(domain.organizationId, ['messaging.domains.verify']);
    expectStatus(await verifier.post(`${path}/verify`), 200);
    await domain.api.delete(path);
    expectProblem(await domain.api.post(`${path}/verify`), 409, 'resource_deleted');
  });
});
