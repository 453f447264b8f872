import { createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { jest } from '@jest/globals';
import { Clock, Database, newId, Retention } from '@customer-platform/database';
import { behindLock, DatabaseFault, eventually } from '@customer-platform/testing';
import { Problem } from '@customer-platform/problem-json';
import { IdentityBench } from '../identity-app.fixture.js';
import { PasswordHashing } from '../passwords/password-hashing.js';
import { OLD_ATTEMPTS, PasswordAttempts, type Attempt } from '../passwords/password-attempts.js';
import { PasswordSignIn } from './password-sign-in.js';

const PASSWORD = 'correct horse battery staple';
const MINUTE_MS = 60_000;
const SECRET = Buffer.alloc(32, 1);

let bench: IdentityBench;
let organizationId: string;
let hash: string;

beforeAll(async () => {
  bench = await IdentityBench.start();
  organizationId = (await bench.organization()).id;
  hash = await bench.app.app.get(PasswordHashing, { strict: false }).hash(PASSWORD);
}, 60_000);

afterAll(() => bench.end());

/** A clock that stands where it is put. */
class StandingClock extends Clock {
  constructor(public at: Date) {
    super();
  }

  override now(): Date {
    return this.at;
  }
}

const aBrowser = (name: string) => ({ name, since: new Date() });

/** An address from nowhere near any other test's. */
function anAddress(): string {
  return [...randomBytes(4)].map(String).join('.');
}

function aSite(): string {
  return `2001:db8:${randomBytes(2).toString('hex')}`;
}

async function aUser(): Promise<{ id: string; email: string }> {
  const id = await bench.person(organizationId);
  await bench.database.query('UPDATE users SET password_hash = $2 WHERE id = $1', [id, hash]);
  return { id, email: `${id}@example.com` };
}

function check(email: string, password: string, ip = anAddress()) {
  const signIn = bench.app.app.get(PasswordSignIn, { strict: false });
  return signIn.check({ organizationId, email, password, ip });
}

async function refusalOf(attempt: Promise<unknown>): Promise<Problem> {
  const error = await attempt.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof Problem) return error;
  throw new Error('It was not refused', { cause: error });
}

/** What one who was refused can see. */
function seenOf({ code, status, message, headers, members }: Problem) {
  return { code, status, message, headers, members };
}

function attemptsOn(clock: Clock): PasswordAttempts {
  return new PasswordAttempts(bench.app.app.get(Database), clock, SECRET);
}

const wrong = (): Promise<object | undefined> => Promise.resolve(undefined);
const right = (): Promise<object | undefined> => Promise.resolve({});

describe('a password', () => {
  it('lets its user in, however the address is written', async () => {
    const { id, email } = await aUser();
    const before = Date.now();
    const signedIn = await check(email.toUpperCase(), PASSWORD);
    expect(signedIn).toMatchObject({ userId: id, amr: ['pwd'] });
    expect(signedIn?.authenticatedAt.getTime()).toBeGreaterThanOrEqual(before);
  });

  it('lets nobody in by letters that the database lowers otherwise than we do: their domain, and their count, are others', async () => {
    const { id } = await aUser();
    await bench.database.query('UPDATE users SET email = $2 WHERE id = $1', [id, `i${id}@example.com`]);
    expect(await check(`\u0130${id}@example.com`, PASSWORD)).toBeUndefined();
    expect(await check(`I${id}@example.com`, PASSWORD)).toBeDefined();
  });

  it('lets nobody in who was suspended while it was looked at', async () => {
    const { id, email } = await aUser();
    const hashing = bench.app.app.get(PasswordHashing, { strict: false });
    const looked = jest.spyOn(hashing, 'verify').mockImplementationOnce(async () => {
      await bench.database.query(`UPDATE users SET status = 'suspended' WHERE id = $1`, [id]);
      return true;
    });
    expect(await check(email, PASSWORD)).toBeUndefined();
    looked.mockRestore();
  });

  it('lets nobody in who is suspended, deleted, only invited, or has none', async () => {
    const changes = [
      `status = 'suspended'`,
      'deleted_at = now()',
      `status = 'invited'`,
      'password_hash = NULL',
    ];
    for (const change of changes) {
      const { id, email } = await aUser();
      await bench.database.query(`UPDATE users SET ${change} WHERE id = $1`, [id]);
      expect(await check(email, PASSWORD)).toBeUndefined();
    }
    expect(await check(`${newId()}@example.com`, PASSWORD)).toBeUndefined();
  });
});

describe('wrong passwords', () => {
  it('for an address: ten in a quarter of an hour, whoever has it, and then nothing is told', async () => {
    const { email } = await aUser();
    const refused: Problem[] = [];
    for (const address of [email, `${newId()}@example.com`]) {
      for (let i = 0; i < 10; i += 1)
        expect(await check(address, 'not the password of anybody')).toBeUndefined();
      // From anywhere, and though it is right.
      refused.push(await refusalOf(check(address, PASSWORD)));
    }
    const [known, unknown] = refused.map(seenOf);
    expect(known).toEqual(unknown);
    expect(known).toMatchObject({ code: 'rate_limited', status: 429, headers: { 'Retry-After': '900' } });
  });

  it('leave tries of their own to browsers and networks that are known, to each ten', async () => {
    const attempts = attemptsOn(new Clock());
    const { id, email } = await aUser();
    const office = anAddress();
    const at = { ip: office, amr: ['pwd'] };
    await bench.signIn(organizationId, id, at);
    const anywhere: Attempt = { organizationId, email, ip: anAddress() };
    const places: Attempt[] = [
      { ...anywhere, knownBrowser: aBrowser('one') },
      { ...anywhere, knownBrowser: aBrowser('two') },
      { ...anywhere, ip: office },
    ];
    for (const place of [anywhere, ...places]) {
      for (let i = 0; i < 10; i += 1)
        expect(await attempts.attempt({ ...place, ip: place.ip ?? anAddress() }, wrong)).toBeUndefined();
      await refusalOf(attempts.attempt(place, right));
    }
    expect(await attempts.attempt({ ...anywhere, knownBrowser: aBrowser('three') }, right)).toBeDefined();
  });

  it('of an address are looked at two at a time, also from browsers that are known', async () => {
    const attempts = attemptsOn(new Clock());
    const email = `${newId()}@example.com`;
    const from = (name: string) => ({ organizationId, email, ip: undefined, knownBrowser: aBrowser(name) });
    const gate = Promise.withResolvers<undefined>();
    const look = jest.fn(() => gate.promise);
    const looking = ['one', 'two'].map((name) => attempts.attempt(from(name), look));
    await eventually(() => expect(look).toHaveBeenCalledTimes(2));
    const refused = await refusalOf(attempts.attempt(from('three'), right));
    expect(refused.headers).toEqual({ 'Retry-After': '2' });
    gate.resolve(undefined);
    await Promise.all(looking);
    expect(await attempts.attempt(from('three'), right)).toBeDefined();
  });

  it('of many addresses of a network do not lock out a browser that is known there', async () => {
    const attempts = attemptsOn(new Clock());
    const ip = anAddress();
    for (let i = 0; i < 10; i += 1)
      await attempts.attempt({ organizationId, email: `${newId()}@example.com`, ip }, wrong);
    const email = `${newId()}@example.com`;
    await refusalOf(attempts.attempt({ organizationId, email, ip }, right));
    expect(
      await attempts.attempt({ organizationId, email, ip, knownBrowser: aBrowser('one') }, right),
    ).toBeDefined();
  });

  it('spread over addresses count for the network they come from', async () => {
    const ip = anAddress();
    for (let i = 0; i < 10; i += 1)
      expect(await check(`${newId()}@example.com`, PASSWORD, ip)).toBeUndefined();
    const { email } = await aUser();
    const refused = await refusalOf(check(email, PASSWORD, ip));
    expect(seenOf(refused)).toMatchObject({ code: 'rate_limited', headers: { 'Retry-After': '900' } });
    expect(await check(email, PASSWORD)).toBeDefined();
  });

  it('spread over the networks of an IPv6 /48 count for that, sixteen times as many', async () => {
    const attempts = attemptsOn(new Clock());
    const site = aSite();
    const from = (network: number): Attempt => ({
      organizationId,
      email: `${newId()}@example.com`,
      ip: `${site}:${network.toString(16)}::1`,
    });
    for (let i = 0; i < 160; i += 1) expect(await attempts.attempt(from(i), wrong)).toBeUndefined();
    const refused = await refusalOf(attempts.attempt(from(160), right));
    expect(seenOf(refused)).toMatchObject({ code: 'rate_limited', headers: { 'Retry-After': '900' } });
    const next = { ...from(0), ip: `${aSite()}::1` };
    expect(await attempts.attempt(next, right)).toBeDefined();
  });

  it('of one address do not lock the office out; right ones never count', async () => {
    const ip = anAddress();
    const { email } = await aUser();
    for (let i = 0; i < 9; i += 1) await check(email, 'not the password of anybody', ip);
    const attempts = attemptsOn(new Clock());
    for (let i = 0; i < 25; i += 1)
      expect(
        await attempts.attempt({ organizationId, email: `${newId()}@example.com`, ip }, right),
      ).toBeDefined();
    expect(await check(email, PASSWORD, ip)).toBeDefined();
  });

  it('at once on two instances: no more are looked at than one after the other, two at a time', async () => {
    const [one, other] = [attemptsOn(new Clock()), attemptsOn(new Clock())];
    const attempt = { organizationId, email: `${newId()}@example.com`, ip: undefined };
    const looked = { all: 0, now: 0, most: 0 };
    const look = async () => {
      looked.all += 1;
      looked.now += 1;
      looked.most = Math.max(looked.most, looked.now);
      await bench.database.query('SELECT 1');
      looked.now -= 1;
      return undefined;
    };
    let before: number;
    do {
      before = looked.all;
      await Promise.allSettled(
        Array.from({ length: 50 }, (_, i) => (i % 2 === 0 ? one : other).attempt(attempt, look)),
      );
    } while (looked.all > before);
    expect(looked).toMatchObject({ all: 10, now: 0 });
    expect(looked.most).toBeLessThanOrEqual(2);
  });

  it('count from when they had their turn, however long they waited for it', async () => {
    const clock = new StandingClock(new Date());
    const email = `${newId()}@example.com`;
    const key = hkdfSync('sha256', SECRET, Buffer.alloc(0), 'identity sign-in addresses', 32);
    const address = createHmac('sha256', Buffer.from(key)).update(email).digest();
    const turn = `password:${address.toString('base64')}`;
    await behindLock(
      bench.database,
      { sql: 'SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', values: [turn] },
      () => attemptsOn(clock).attempt({ organizationId, email, ip: undefined }, wrong),
      () => (clock.at = new Date(clock.at.getTime() + MINUTE_MS)),
    );
    const noted = 'SELECT tried_at FROM password_attempts WHERE address_hash = $1';
    expect(await bench.database.query(noted, [address])).toEqual([{ tried_at: clock.at }]);
  });

  it('are forgotten after a quarter of an hour, and their rows go in pieces', async () => {
    const clock = new StandingClock(new Date());
    const attempts = attemptsOn(clock);
    const attempt: Attempt = { organizationId, email: `${newId()}@example.com`, ip: undefined };
    for (let i = 0; i < 10; i += 1) await attempts.attempt(attempt, wrong);
    await refusalOf(attempts.attempt(attempt, right));
    clock.at = new Date(clock.at.getTime() + 15 * MINUTE_MS + 1);
    expect(await attempts.attempt(attempt, right)).toBeDefined();
    await new Retention(bench.app.app.get(Database), clock, OLD_ATTEMPTS).sweep();
    const left = await bench.database.query('SELECT FROM password_attempts WHERE tried_at < $1', [
      new Date(clock.at.getTime() - 15 * MINUTE_MS),
    ]);
    expect(left).toEqual([]);
  });
});

describe('an attempt', () => {
  it('that could not be looked at does not count', async () => {
    const attempts = attemptsOn(new Clock());
    const attempt = { organizationId, email: `${newId()}@example.com`, ip: undefined };
    for (let i = 0; i < 12; i += 1)
      await expect(attempts.attempt(attempt, () => Promise.reject(new Error('busy')))).rejects.toThrow(
        'busy',
      );
    expect(await attempts.attempt(attempt, right)).toBeDefined();
  });

  it('whose instance was killed while it looked counts for the address, and not for the network', async () => {
    const clock = new StandingClock(new Date());
    const attempts = attemptsOn(clock);
    const ip = anAddress();
    const email = `${newId()}@example.com`;
    for (let i = 0; i < 10; i += 1) {
      // What is looked at for ever is, to all others, what a killed instance has left.
      await new Promise<void>((begun) => {
        void attempts.attempt({ organizationId, email, ip }, () => {
          begun();
          return new Promise(() => undefined);
        });
      });
      clock.at = new Date(clock.at.getTime() + 30_001);
    }
    await refusalOf(attempts.attempt({ organizationId, email, ip }, right));
    expect(
      await attempts.attempt({ organizationId, email: `${newId()}@example.com`, ip }, right),
    ).toBeDefined();
  });

  it('that cannot be forgotten at once is forgotten later, and fails as its look did', async () => {
    const attempts = attemptsOn(new Clock());
    const ip = anAddress();
    const when = `OLD.network = '${ip}'`;
    const fault = await DatabaseFault.in(bench.database, {
      table: 'password_attempts',
      on: 'DELETE',
      when,
      times: 2,
    });
    const email = `${newId()}@example.com`;
    const failed = attempts.attempt({ organizationId, email, ip }, () => Promise.reject(new Error('busy')));
    await expect(failed).rejects.toThrow('busy');
    expect(await attempts.attempt({ organizationId, email, ip }, right)).toEqual({});
    const left = () => bench.database.query('SELECT FROM password_attempts WHERE network = $1', [ip]);
    await eventually(async () => expect(await left()).toEqual([]));
    expect(await fault.tries()).toBe(4);
    await fault.mend();
  });

  it('that nobody settled keeps its network out for half a minute, and its address for a quarter of an hour', async () => {
    const clock = new StandingClock(new Date());
    const attempts = attemptsOn(clock);
    const ip = anAddress();
    const addresses = Array.from({ length: 30 }, () => `${newId()}@example.com`);
    await Promise.all(
      addresses.map(
        (email) =>
          new Promise<void>((begun) => {
            void attempts.attempt({ organizationId, email, ip }, () => {
              begun();
              return new Promise(() => undefined);
            });
          }),
      ),
    );
    const next = { organizationId, email: `${newId()}@example.com`, ip };
    await refusalOf(attempts.attempt(next, right));
    clock.at = new Date(clock.at.getTime() + 30_001);
    expect(await attempts.attempt(next, right)).toBeDefined();
    const [{ count } = { count: NaN }] = await bench.database.query<{ count: number }>(
      'SELECT count(*)::int AS count FROM password_attempts WHERE network = $1 AND pending',
      [ip],
    );
    expect(count).toBe(30);
  });

  it('beside two of the same address is refused for the moment, though all are right', async () => {
    const attempts = attemptsOn(new Clock());
    const attempt = { organizationId, email: `${newId()}@example.com`, ip: undefined };
    const end = Promise.withResolvers<object>();
    const looked: Promise<object | undefined>[] = [];
    for (let i = 0; i < 2; i += 1)
      await new Promise<void>((begun) => {
        looked.push(
          attempts.attempt(attempt, () => {
            begun();
            return end.promise;
          }),
        );
      });
    const refused = await refusalOf(attempts.attempt(attempt, right));
    expect(seenOf(refused)).toMatchObject({ code: 'rate_limited', headers: { 'Retry-After': '2' } });
    const elsewhere = { ...attempt, email: `${newId()}@example.com` };
    expect(await attempts.attempt(elsewhere, right)).toBeDefined();
    end.resolve({});
    await Promise.all(looked);
    expect(await attempts.attempt(attempt, right)).toBeDefined();
  });

  it('goes on while one network fills all of its places; those are counted by where it comes from', async () => {
    const hashing = bench.app.app.get(PasswordHashing, { strict: false });
    const [{ id, email }, crowded, ip] = [await aUser(), anAddress(), anAddress()];
    const looked = jest.spyOn(hashing, 'verify');
    const crowd = Promise.allSettled(Array.from({ length: 70 }, () => hashing.hash(PASSWORD, crowded)));
    expect(await check(email, PASSWORD, ip)).toMatchObject({ userId: id });
    expect(looked).toHaveBeenCalledWith(hash, PASSWORD, ip);
    looked.mockRestore();
    expect((await crowd).some(({ status }) => status === 'rejected')).toBe(true);
  });

  it('keeps no address that can be read', async () => {
    const email = `${newId()}@example.com`;
    await check(email, 'not the password of anybody');
    const rows = await bench.database.query('SELECT password_attempts::text AS text FROM password_attempts');
    expect(JSON.stringify(rows)).not.toContain(email);
  });
});
