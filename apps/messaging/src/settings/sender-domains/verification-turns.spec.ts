import { metrics } from '@customer-platform/http';
import { newId } from '@customer-platform/database';
import { eventually, expectProblem, expectStatus } from '@customer-platform/testing';
import { ALL_PERMISSIONS } from '../../messaging.fixture.js';
import { Tenants } from '../../background/organizations/tenants.js';
import type { SenderDomainDto } from './sender-domain.dto.js';
import { DOMAINS, HOUR, record, verificationWorld, type VerificationWorld } from './verification.fixture.js';

let world: VerificationWorld;
beforeAll(async () => {
  world = await verificationWorld({ RETURN_HOST: 'bounces.platform.example' });
});
afterAll(() => world.close());

const gauge = async (name: string): Promise<number | undefined> =>
  (await metrics.getSingleMetric(name)?.get())?.values[0]?.value;

describe('checks of one organization', () => {
  it('leave places to the others, however slow its name servers are', async () => {
    const [one, other] = [await world.aDomain(), await world.aDomain()];
    world.publish(one.body);
    world.publish(other.body);
    world.dns.hold();
    const underWay = Array.from({ length: 5 }, () => one.verify());
    const { name } = record(one.body, 'ownership');
    await eventually(() =>
      expect(world.dns.asked.filter((each) => each.name === name).length).toBeGreaterThanOrEqual(5),
    );
    const refused = await one.api.post(`${DOMAINS}/${one.body.id}/verify`);
    expect(expectProblem(refused, 429, 'rate_limited')['scope']).toBe('organization');
    const answers = world.dns.takeHeld();
    expect((await other.verify()).state).toBe('verified');
    answers();
    for (const { state } of await Promise.all(underWay)) expect(state).toBe('verified');
    // Their places are free again.
    expect((await one.verify()).state).toBe('verified');
  });

  it('take turns with those of others in the daily look', async () => {
    const [many, single] = [await world.aDomain(), await world.aDomain()];
    await world.messaging.database.query(
      `INSERT INTO sender_domains (organization_id, id, domain, state, dkim_keys, findings, next_check_at, created_at, updated_at)
       SELECT organization_id, gen_random_uuid(), 'n' || n || '.' || domain, state, dkim_keys, findings,
              now() - interval '1 hour', created_at, updated_at
         FROM sender_domains, generate_series(1, 30) AS n WHERE id = $1`,
      [many.body.id],
    );
    await world.age(single, null);
    const before = world.dns.asked.length;
    await world.recheck();
    const order = world.dns.asked
      .slice(before)
      .map(({ name }) => name)
      .filter((name) => name.startsWith('_customer-platform.'));
    expect(order).toHaveLength(31);
    expect(order.slice(0, 10)).toContain(`_customer-platform.${single.body.domain}`);
  });
});

it('takes turns by tenant in the daily look, in however many organizations one of them has domains', async () => {
  const tenant = newId();
  const [pattern, single] = [await world.aDomain(), await world.aDomain()];
  const children = Array.from({ length: 30 }, () => newId());
  await world.messaging.database.query(
    `INSERT INTO sender_domains (organization_id, id, domain, state, dkim_keys, findings, next_check_at, created_at, updated_at)
     SELECT child, gen_random_uuid(), 'c' || at || '.' || domain, state, dkim_keys, findings,
            now() - interval '1 hour', created_at, updated_at
       FROM sender_domains, unnest($2::uuid[]) WITH ORDINALITY AS child (child, at) WHERE id = $1`,
    [pattern.body.id, children],
  );
  const tenants = world.messaging.app.app.get(Tenants, { strict: false });
  for (const id of children) tenants.learn({ id, tenant_id: tenant });
  await world.age(single, null);
  const before = world.dns.asked.length;
  await world.recheck();
  const order = world.dns.asked
    .slice(before)
    .map(({ name }) => name)
    .filter((name) => name.startsWith('_customer-platform.'));
  expect(order).toHaveLength(31);
  expect(order.slice(0, 10)).toContain(`_customer-platform.${single.body.domain}`);
});

it('checks of a tenant leave places to the others, in however many organizations it founds', async () => {
  const tenant = newId();
  const { app } = world.messaging;
  const child = async () => {
    const key = { organizationId: newId(), permissions: ALL_PERMISSIONS, tenant };
    const api = app.with(app.registry.key(key));
    const made = await api.post<SenderDomainDto>(DOMAINS, { domain: `m${newId()}.example.com` });
    expectStatus(made, 201);
    world.publish(made.body);
    return { made: made.body, verify: () => api.post(`${DOMAINS}/${made.body.id}/verify`) };
  };
  const [first, second, third] = [await child(), await child(), await child()];
  const other = await world.aDomain();
  world.publish(other.body);
  world.dns.hold();
  const underWay = [first, second].flatMap(({ verify }) => Array.from({ length: 5 }, verify));
  for (const { made } of [first, second])
    await eventually(() => {
      const asked = world.dns.asked.filter(({ name }) => name === record(made, 'ownership').name);
      expect(asked.length).toBeGreaterThanOrEqual(5);
    });
  expect(expectProblem(await third.verify(), 429, 'rate_limited')['scope']).toBe('organization');
  const answers = world.dns.takeHeld();
  expect((await other.verify()).state).toBe('verified');
  answers();
  for (const answer of await Promise.all(underWay)) expectStatus(answer, 200);
});

it('finds the alias of the return path, which a domain is verified without', async () => {
  const domain = await world.aDomain();
  world.publish(domain.body, 'ownership', 'dkim');
  const path = record(domain.body, 'return_path');
  expect(path).toMatchObject({
    type: 'CNAME',
    name: `bounces.${domain.body.domain}`,
    value: 'bounces.platform.example',
    required: false,
  });
  const verified = await domain.verify();
  expect(verified.state).toBe('verified');
  expect(record(verified, 'return_path')).toMatchObject({ status: 'missing', fault: null });
  world.dns.alias(path.name, 'bounces.elsewhere.example');
  expect(record(await domain.verify(), 'return_path')).toMatchObject({
    status: 'wrong',
    fault: 'other_value',
  });
  world.dns.alias(path.name, 'Bounces.Platform.Example');
  expect(record(await domain.verify(), 'return_path')).toMatchObject({ status: 'found', fault: null });
});

it('measures how many domains are about to fail together', async () => {
  const domain = await world.aDomain();
  world.publish(domain.body);
  await domain.verify();
  await world.recheck();
  const [verified, failing] = [await gauge('sender_domains_verified'), await gauge('sender_domains_failing')];
  expect(verified).toBeGreaterThan(0);
  // A name server that says of every name that it does not exist.
  for (const each of (await domain.read()).records) world.dns.withdraw(each);
  await world.age(domain, HOUR);
  await world.recheck();
  expect(await gauge('sender_domains_failing')).toBe((failing ?? 0) + 1);
  expect(await gauge('sender_domains_verified')).toBe(verified);
});
