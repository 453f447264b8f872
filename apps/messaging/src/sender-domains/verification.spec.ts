import { randomUUID } from 'node:crypto';
import { Clock } from '@customer-platform/database';
import {
  eventually,
  expectProblem,
  expectStatus,
  startTestApp,
  type Caller,
  type TestApp,
} from '@customer-platform/testing';
import { MessagingModule } from '../messaging.module.js';
import { messagingWorld, type MessagingWorld } from '../messaging.fixture.js';
import { DnsPatience } from './dns/dns-answers.js';
import { DnsServer } from './dns/dns-server.fixture.js';
import { DomainRecheck } from './domain-recheck.js';
import type { SenderDomainDto, SenderDomainRecordDto } from './sender-domain.dto.js';

const DOMAINS = '/v1/messaging/sender-domains';
const INCLUDED = 'spf.platform.example.com';
const HOUR = 3_600_000;

let world: MessagingWorld;
let dns: DnsServer;
beforeAll(async () => {
  dns = await DnsServer.start();
  world = await messagingWorld({
    consume: false,
    // Nobody looks by itself, and what is told stays in the outbox.
    env: { ...environment(), SENDER_SPF_INCLUDE: INCLUDED },
  });
  beGenerous(world.app);
  dns.publish({ name: INCLUDED, value: 'v=spf1 ip4:192.0.2.0/24 -all' });
});
afterAll(async () => {
  await world.close();
  await dns.close();
});

function environment(): Record<string, string> {
  return { PROCESS_ROLE: 'api', SENDER_DNS_SERVERS: dns.address };
}

/** This name server shares its loop with all else here: an answer may take long. */
function beGenerous({ app }: TestApp): void {
  Object.assign(app.get(DnsPatience, { strict: false }), { tryMs: 30_000, checkMs: 90_000 });
}

interface OwnDomain {
  readonly organizationId: string;
  readonly api: Caller;
  readonly body: SenderDomainDto;
  verify(): Promise<SenderDomainDto>;
  read(): Promise<SenderDomainDto>;
}

async function aDomain(domain = `m${randomUUID()}.example.com`): Promise<OwnDomain> {
  const { id: organizationId, api } = world.organization();
  const created = await api.post<SenderDomainDto>(DOMAINS, { domain });
  expectStatus(created, 201);
  const { id } = created.body;
  return {
    organizationId,
    api,
    body: created.body,
    verify: async () => {
      const answer = await api.post<SenderDomainDto>(`${DOMAINS}/${id}/verify`);
      expectStatus(answer, 200);
      return answer.body;
    },
    read: async () => (await api.get<SenderDomainDto>(`${DOMAINS}/${id}`)).body,
  };
}

/** Publishes the records of a domain, or those for one purpose. */
function publish({ records }: SenderDomainDto, ...purposes: string[]): void {
  for (const record of records)
    if (purposes.length === 0 || purposes.includes(record.purpose)) dns.publish(record);
}

function statuses({ records }: SenderDomainDto): string[] {
  return records.map(({ purpose, status, fault }) => `${purpose} ${fault ?? status}`);
}

function record({ records }: SenderDomainDto, purpose: string): SenderDomainRecordDto {
  const found = records.find((each) => each.purpose === purpose);
  if (!found) throw new Error(`no record for ${purpose}`);
  return found;
}

/** As if the domain had been without its records for so long, and were due. */
async function age({ body }: OwnDomain, milliseconds: number | null): Promise<void> {
  const since = milliseconds === null ? null : new Date(Date.now() - milliseconds);
  await world.database.query(
    `UPDATE sender_domains SET failing_since = $2, next_check_at = now() - interval '1 second' WHERE id = $1`,
    [body.id, since],
  );
}

const recheck = (): Promise<void> => world.app.app.get(DomainRecheck, { strict: false }).runAll();

/** The events of an organization's domains, oldest first. */
async function told({ organizationId }: OwnDomain): Promise<string[]> {
  const rows = await world.database.query<{ type: string }>(
    `SELECT substring(messages::text FROM 'messaging[.]sender_domain[.]([a-z]+)[.]v1') AS type FROM outbox
      WHERE organization_id = $1 AND messages::text LIKE '%messaging.sender_domain.%' ORDER BY id`,
    [organizationId],
  );
  return rows.map(({ type }) => type);
}

describe('POST /v1/messaging/sender-domains/{id}/verify', () => {
  it('verifies by all records, long ones by TCP in pieces', async () => {
    const domain = await aDomain();
    expect(statuses(await domain.verify())).toEqual([
      'ownership missing',
      'dkim missing',
      'dkim missing',
      'spf missing',
      'dmarc missing',
    ]);
    expect((await domain.read()).state).toBe('pending');
    publish(domain.body);
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
    expect(dns.asked.filter((each) => each.name === name).map(({ by }) => by)).toEqual(['udp', 'udp', 'tcp']);
  });

  it('needs ownership and the RSA key, and nothing else', async () => {
    const domain = await aDomain();
    publish(domain.body, 'ownership');
    expect((await domain.verify()).state).toBe('pending');
    dns.publish(record(domain.body, 'dkim'));
    expect((await domain.verify()).state).toBe('verified');
  });

  it('verifies for the organization that proves it, and not for the other', async () => {
    const name = `m${randomUUID()}.example.com`;
    const [owner, other] = [await aDomain(name), await aDomain(name)];
    publish(owner.body);
    publish(other.body, 'dkim');
    expect((await owner.verify()).state).toBe('verified');
    const refused = await other.verify();
    expect(refused.state).toBe('pending');
    expect(record(refused, 'ownership')).toMatchObject({ status: 'wrong', fault: 'other_value' });
    publish(other.body, 'ownership');
    expect((await other.verify()).state).toBe('verified');
    expect((await owner.verify()).state).toBe('verified');
  });

  it('follows aliases, and takes a loop of them for nothing', async () => {
    const domain = await aDomain();
    publish(domain.body, 'ownership');
    const dkim = record(domain.body, 'dkim');
    const target = `keys.${randomUUID()}.example.com`;
    dns.alias(dkim.name, target);
    dns.publish({ name: target, value: dkim.value });
    expect((await domain.verify()).state).toBe('verified');
    dns.alias(target, dkim.name);
    dns.withdraw({ name: target });
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
    const domain = await aDomain();
    const { name, value } = record(domain.body, 'dkim');
    for (const each of values(value)) dns.publish({ name, value: each });
    expect(record(await domain.verify(), 'dkim')).toMatchObject({ status: 'wrong', fault });
  });

  it('DKIM: takes the key with other space and order', async () => {
    const domain = await aDomain();
    const { name, value } = record(domain.body, 'dkim');
    const key = value.slice(value.indexOf('p=') + 2);
    dns.publish({
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
    const domain = await aDomain();
    for (const value of values) dns.publish({ name: domain.body.domain, value });
    expect(statuses(await domain.verify())).toContain(`spf ${expected}`);
  });

  it('SPF: ends where includes do not', async () => {
    const domain = await aDomain();
    const link = (at: number) => `i${String(at)}.${domain.body.domain}`;
    dns.publish({ name: domain.body.domain, value: `v=spf1 include:${link(0)} -all` });
    for (let at = 0; at < 100; at += 1)
      dns.publish({ name: link(at), value: `v=spf1 include:${link(at + 1)} include:${link(0)} -all` });
    expect(statuses(await domain.verify())).toContain('spf too_many_lookups');
    expect(dns.asked.filter(({ name }) => name.endsWith(`.${domain.body.domain}`)).length).toBeLessThan(20);
    const loop = await aDomain();
    dns.publish({ name: loop.body.domain, value: `v=spf1 include:${loop.body.domain} -all` });
    expect(statuses(await loop.verify())).toContain('spf too_many_lookups');
  });

  it.each([
    ['v=DMARC1; p=reject; rua=mailto:x@example.com', 'found'],
    ['v=DMARC1;p=quarantine', 'found'],
    ['v=DMARC1; p=everything', 'invalid'],
    ['v=DMARC1', 'invalid'],
    ['DMARC1', 'missing'],
  ])('DMARC: %s is %s', async (value, expected) => {
    const domain = await aDomain();
    dns.publish({ name: `_dmarc.${domain.body.domain}`, value });
    expect(statuses(await domain.verify())).toContain(`dmarc ${expected}`);
  });

  it('DMARC: holds for the domains below', async () => {
    const registered = `shop-${randomUUID()}.com`;
    const domain = await aDomain(`mail.news.${registered}`);
    dns.publish({ name: `_dmarc.${registered}`, value: 'v=DMARC1; p=none' });
    expect(statuses(await domain.verify())).toContain('dmarc found');
  });

  it.each(['SERVFAIL', 'REFUSED', 'garbage'] as const)('%s changes nothing', async (fault) => {
    const domain = await aDomain();
    publish(domain.body);
    const before = await domain.verify();
    for (const { name } of before.records) dns.fail(name, fault);
    expect(await domain.verify()).toEqual(before);
    await age(domain, 100 * HOUR);
    await recheck();
    expect(await domain.read()).toMatchObject({ state: 'verified', records: before.records });
    expect(await told(domain)).toEqual(['verified']);
  });

  it('answers though name servers hang, and changes nothing', async () => {
    const domain = await aDomain();
    publish(domain.body);
    const before = await domain.verify();
    for (const { name } of before.records) dns.fail(name, 'hang');
    const patience = world.app.app.get(DnsPatience, { strict: false });
    Object.assign(patience, new DnsPatience());
    try {
      expect(await domain.verify()).toEqual(before);
    } finally {
      beGenerous(world.app);
    }
  });

  it('lets one silent name server stand for one record', async () => {
    const domain = await aDomain();
    publish(domain.body);
    const verified = await domain.verify();
    dns.fail(record(verified, 'ownership').name, 'SERVFAIL');
    dns.withdraw(record(verified, 'dmarc'));
    const after = await domain.verify();
    expect(record(after, 'ownership')).toEqual(record(verified, 'ownership'));
    expect(record(after, 'dmarc').status).toBe('missing');
    expect(after).toMatchObject({ state: 'verified', failing_since: null });
  });

  it('is told of once, however many ask at once', async () => {
    const domain = await aDomain();
    publish(domain.body);
    const answers = await Promise.all(Array.from({ length: 5 }, () => domain.verify()));
    for (const { state } of answers) expect(state).toBe('verified');
    expect(await told(domain)).toEqual(['verified']);
  });

  it('lets the later question stand, whichever answer comes last', async () => {
    const domain = await aDomain();
    dns.hold();
    const early = domain.verify();
    const { name } = record(domain.body, 'ownership');
    await eventually(() => expect(dns.asked.some((each) => each.name === name)).toBe(true));
    // The first question is still open, and will find nothing; the second finds all.
    const answers = dns.takeHeld();
    publish(domain.body);
    expect((await domain.verify()).state).toBe('verified');
    answers();
    expect((await early).state).toBe('verified');
    expect(await told(domain)).toEqual(['verified']);
  });

  it('takes 30 calls a minute of an organization, on whichever instance', async () => {
    const domain = await aDomain();
    const clock = world.app.app.get(Clock, { strict: false });
    const at = new Date(Math.ceil(Date.now() / 60_000) * 60_000);
    const now = clock.now.bind(clock);
    clock.now = () => at;
    try {
      await world.database.query('INSERT INTO sender_domain_calls VALUES ($1, $2, 29)', [
        domain.organizationId,
        at,
      ]);
      await domain.verify();
      const refused = await domain.api.post(`${DOMAINS}/${domain.body.id}/verify`);
      expect(expectProblem(refused, 429, 'rate_limited')['scope']).toBe('organization');
      expect(refused.headers.get('retry-after')).toBe('60');
      await (await aDomain()).verify();
    } finally {
      clock.now = now;
    }
  });

  it('409 for a deleted one, 404 for another’s, 403 without the permission', async () => {
    const [domain, other] = [await aDomain(), await aDomain()];
    const path = `${DOMAINS}/${domain.body.id}`;
    expectProblem(await other.api.post(`${path}/verify`), 404, 'not_found');
    const reader = world.app.as(domain.organizationId, [
      'messaging.domains.read',
      'messaging.domains.create',
    ]);
    expectProblem(await reader.post(`${path}/verify`), 403, 'permission_denied');
    const verifier = world.app.as(domain.organizationId, ['messaging.domains.verify']);
    expectStatus(await verifier.post(`${path}/verify`), 200);
    await domain.api.delete(path);
    expectProblem(await domain.api.post(`${path}/verify`), 409, 'resource_deleted');
  });
});

describe('the daily check', () => {
  it('fails a domain that has been wrong for 72 h, and takes it back when it is right', async () => {
    const domain = await aDomain();
    publish(domain.body);
    await domain.verify();
    const ownership = record(domain.body, 'ownership');
    dns.withdraw(ownership);
    await age(domain, null);
    await recheck();
    const missing = await domain.read();
    expect(missing).toMatchObject({ state: 'verified', failing_since: expect.any(String) });
    await age(domain, 71 * HOUR);
    await recheck();
    expect((await domain.read()).state).toBe('verified');
    await age(domain, 72 * HOUR);
    await recheck();
    expect((await domain.read()).state).toBe('failed');
    dns.publish(ownership);
    await age(domain, 73 * HOUR);
    await recheck();
    expect(await domain.read()).toMatchObject({ state: 'verified', failing_since: null });
    expect(await told(domain)).toEqual(['verified', 'failed', 'verified']);
  });

  it('begins to count anew when it was right in between', async () => {
    const domain = await aDomain();
    publish(domain.body);
    await domain.verify();
    await age(domain, 71 * HOUR);
    await recheck();
    expect((await domain.read()).failing_since).toBeNull();
  });

  it('never fails what was never proven, and is due once a day', async () => {
    const domain = await aDomain();
    await age(domain, null);
    await recheck();
    expect(await domain.read()).toMatchObject({ state: 'pending', failing_since: null });
    const [row] = await world.database.query<{ hours: number }>(
      `SELECT round(extract(epoch FROM next_check_at - checked_at) / 3600)::int AS hours FROM sender_domains WHERE id = $1`,
      [domain.body.id],
    );
    expect(row?.hours).toBe(24);
  });

  it('is done once by several instances', async () => {
    const other = await startTestApp({
      module: 'messaging',
      root: MessagingModule,
      database: world.database,
      env: environment(),
    });
    beGenerous(other);
    try {
      const domains = await Promise.all(Array.from({ length: 12 }, () => aDomain()));
      for (const domain of domains) await age(domain, null);
      await Promise.all([recheck(), other.app.get(DomainRecheck, { strict: false }).runAll()]);
      for (const { body } of domains) {
        const { name } = record(body, 'ownership');
        expect(dns.asked.filter((each) => each.name === name)).toHaveLength(1);
      }
    } finally {
      await other.close();
    }
  });

  it('leaves deleted domains alone, and begins anew with a restored one', async () => {
    const domain = await aDomain();
    publish(domain.body);
    await domain.verify();
    await domain.api.delete(`${DOMAINS}/${domain.body.id}`);
    const { name } = record(domain.body, 'ownership');
    const asked = () => dns.asked.filter((each) => each.name === name).length;
    const before = asked();
    await age(domain, null);
    await recheck();
    expect(asked()).toBe(before);
    const restored = await domain.api.post<SenderDomainDto>(`${DOMAINS}/${domain.body.id}/restore`);
    expect(restored.body.state).toBe('pending');
    await recheck();
    expect((await domain.read()).state).toBe('verified');
  });
});

describe('a rotation', () => {
  it('signs by the new pair once its record is found, and shows the one before for a week', async () => {
    const domain = await aDomain();
    publish(domain.body);
    await domain.verify();
    const patched = await domain.api.patch<SenderDomainDto>(`${DOMAINS}/${domain.body.id}`, {
      rotate_dkim: true,
    });
    const fresh = patched.body.records.find(
      ({ name }) => !domain.body.records.some((each) => each.name === name),
    );
    if (!fresh) throw new Error('no new record');
    expect(fresh).toMatchObject({ purpose: 'dkim', required: false, status: 'unchecked' });
    expect(await domain.verify()).toMatchObject({ state: 'verified', selector: domain.body.selector });
    dns.publish(fresh);
    const switched = await domain.verify();
    expect(switched).toMatchObject({ state: 'verified', selector: fresh.name.split('.')[0] });
    expect(switched.records.filter(({ purpose }) => purpose === 'dkim')).toHaveLength(4);
    // The one before is needed no longer for the domain to be verified, and its private key is gone.
    dns.withdraw(record(domain.body, 'dkim'));
    expect((await domain.verify()).state).toBe('verified');
    const [row] = await world.database.query<{ keys: { use: string; rsa: { private: unknown } }[] }>(
      'SELECT dkim_keys AS keys FROM sender_domains WHERE id = $1',
      [domain.body.id],
    );
    expect(row?.keys.map(({ use, rsa }) => [use, rsa.private === null])).toEqual([
      ['signing', false],
      ['retired', true],
    ]);
    await world.database.query(
      `UPDATE sender_domains SET dkim_keys = jsonb_set(dkim_keys, '{1,retired_at}', to_jsonb((now() - interval '8 days')::text))
        WHERE id = $1`,
      [domain.body.id],
    );
    expect((await domain.verify()).records.filter(({ purpose }) => purpose === 'dkim')).toHaveLength(2);
  });
});
