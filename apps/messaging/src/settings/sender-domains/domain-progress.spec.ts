import { startTestApp } from '@customer-platform/testing';
import { MessagingModule } from '../../messaging.module.js';
import { DomainRecheck } from './domain-recheck.js';
import type { SenderDomainDto } from './sender-domain.dto.js';
import {
  beGenerous,
  DOMAINS,
  HOUR,
  record,
  verificationWorld,
  type VerificationWorld,
} from './verification.fixture.js';

let world: VerificationWorld;
beforeAll(async () => {
  world = await verificationWorld();
});
afterAll(() => world.close());

describe('the daily check', () => {
  it('fails a domain that has been wrong for 72 h, and takes it back when it is right', async () => {
    const domain = await world.aDomain();
    world.publish(domain.body);
    await domain.verify();
    const ownership = record(domain.body, 'ownership');
    world.dns.withdraw(ownership);
    await world.age(domain, null);
    await world.recheck();
    const missing = await domain.read();
    expect(missing).toMatchObject({ state: 'verified', failing_since: expect.any(String) });
    await world.age(domain, 71 * HOUR);
    await world.recheck();
    expect((await domain.read()).state).toBe('verified');
    await world.age(domain, 72 * HOUR);
    await world.recheck();
    expect((await domain.read()).state).toBe('failed');
    world.dns.publish(ownership);
    await world.age(domain, 73 * HOUR);
    await world.recheck();
    expect(await domain.read()).toMatchObject({ state: 'verified', failing_since: null });
    expect(await world.told(domain)).toEqual(['verified', 'failed', 'verified']);
  });

  it('begins to count anew when it was right in between', async () => {
    const domain = await world.aDomain();
    world.publish(domain.body);
    await domain.verify();
    await world.age(domain, 71 * HOUR);
    await world.recheck();
    expect((await domain.read()).failing_since).toBeNull();
  });

  it('never fails what was never proven, and is due once a day', async () => {
    const domain = await world.aDomain();
    await world.age(domain, null);
    await world.recheck();
    expect(await domain.read()).toMatchObject({ state: 'pending', failing_since: null });
    const [row] = await world.messaging.database.query<{ hours: number }>(
      `SELECT round(extract(epoch FROM next_check_at - checked_at) / 3600)::int AS hours FROM sender_domains WHERE id = $1`,
      [domain.body.id],
    );
    expect(row?.hours).toBe(24);
  });

  it('asks about a domain of which DNS says nothing after an hour where mail leaves from it, else after a day', async () => {
    const [verified, pending] = [await world.aDomain(), await world.aDomain()];
    world.publish(verified.body);
    await verified.verify();
    const hours: number[] = [];
    for (const domain of [verified, pending]) {
      for (const { name } of domain.body.records) world.dns.fail(name, 'SERVFAIL');
      await world.age(domain, null);
      await world.recheck();
      const [row] = await world.messaging.database.query<{ hours: number }>(
        `SELECT round(extract(epoch FROM next_check_at - now()) / 3600)::int AS hours FROM sender_domains WHERE id = $1`,
        [domain.body.id],
      );
      hours.push(row?.hours ?? 0);
    }
    expect(hours).toEqual([1, 24]);
  });

  it('is done once by several instances', async () => {
    const other = await startTestApp({
      module: 'messaging',
      root: MessagingModule,
      database: world.messaging.database,
      env: world.env,
    });
    beGenerous(other);
    try {
      const domains = await Promise.all(Array.from({ length: 12 }, () => world.aDomain()));
      for (const domain of domains) await world.age(domain, null);
      await Promise.all([world.recheck(), other.app.get(DomainRecheck, { strict: false }).runAll()]);
      for (const { body } of domains) {
        const { name } = record(body, 'ownership');
        expect(world.dns.asked.filter((each) => each.name === name)).toHaveLength(1);
      }
    } finally {
      await other.close();
    }
  });

  it('leaves deleted domains alone, and begins anew with a restored one', async () => {
    const domain = await world.aDomain();
    world.publish(domain.body);
    await domain.verify();
    await domain.api.delete(`${DOMAINS}/${domain.body.id}`);
    const { name } = record(domain.body, 'ownership');
    const asked = () => world.dns.asked.filter((each) => each.name === name).length;
    const before = asked();
    await world.age(domain, null);
    await world.recheck();
    expect(asked()).toBe(before);
    const restored = await domain.api.post<SenderDomainDto>(`${DOMAINS}/${domain.body.id}/restore`);
    expect(restored.body.state).toBe('pending');
    await world.recheck();
    expect((await domain.read()).state).toBe('verified');
  });
});

describe('a rotation', () => {
  it('signs by the new pair once its record is found, and shows the one before for a week', async () => {
    const domain = await world.aDomain();
    world.publish(domain.body);
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
    world.dns.publish(fresh);
    const switched = await domain.verify();
    expect(switched).toMatchObject({ state: 'verified', selector: fresh.name.split('.')[0] });
    expect(switched.records.filter(({ purpose }) => purpose === 'dkim')).toHaveLength(4);
    // The one before is needed no longer for the domain to be verified, and its private key is gone.
    world.dns.withdraw(record(domain.body, 'dkim'));
    expect((await domain.verify()).state).toBe('verified');
    const [row] = await world.messaging.database.query<{
      keys: { use: string; rsa: { private: unknown } }[];
    }>('SELECT dkim_keys AS keys FROM sender_domains WHERE id = $1', [domain.body.id]);
    expect(row?.keys.map(({ use, rsa }) => [use, rsa.private === null])).toEqual([
      ['signing', false],
      ['retired', true],
    ]);
    await world.messaging.database.query(
      `UPDATE sender_domains SET dkim_keys = jsonb_set(dkim_keys, '{1,retired_at}', to_jsonb((now() - interval '8 days')::text))
        WHERE id = $1`,
      [domain.body.id],
    );
    expect((await domain.verify()).records.filter(({ purpose }) => purpose === 'dkim')).toHaveLength(2);
  });
});
