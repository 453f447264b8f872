import { argon2Sync } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { PasswordHashing } from './password-hashing.js';
import { PasswordPool } from './password-pool.js';

const PHC = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

/** What a hash says, computed again by what it says of itself. */
function agrees(hash: string, message: string): boolean {
  const [, memory, passes, parallelism, salt = '', tag = ''] = PHC.exec(hash) ?? [];
  const parameters = {
    message,
    nonce: Buffer.from(salt, 'base64'),
    tagLength: Buffer.from(tag, 'base64').length,
    memory: Number(memory),
    passes: Number(passes),
    parallelism: Number(parallelism),
  };
  return argon2Sync('argon2id', parameters).equals(Buffer.from(tag, 'base64'));
}

describe('a password’s hash', () => {
  it('is argon2id with no less than OWASP asks for, and another each time', async () => {
    const hashing = new PasswordHashing(new PasswordPool());
    const [first = '', second = ''] = await Promise.all([
      hashing.hash('correct horse battery staple'),
      hashing.hash('correct horse battery staple'),
    ]);
    expect(first).not.toBe(second);
    const [, memory, passes] = PHC.exec(first) ?? [];
    expect(Number(memory)).toBeGreaterThanOrEqual(19_456);
    expect(Number(passes)).toBeGreaterThanOrEqual(2);
    expect(agrees(first, 'correct horse battery staple')).toBe(true);
    expect(agrees(second, 'correct horse battery stapl3')).toBe(false);
  });

  it('is of the password, however its characters were composed', async () => {
    const hash = await new PasswordHashing(new PasswordPool()).hash('nandu\u0303 azul del sur');
    expect(agrees(hash, 'nandu\u0303 azul del sur'.normalize('NFC'))).toBe(true);
  });

  it('leaves the event loop free: timers go on while many are made', async () => {
    const hashing = new PasswordHashing(new PasswordPool());
    let turns = 0;
    const timer = setInterval(() => (turns += 1), 1);
    await Promise.all(Array.from({ length: 10 }, () => hashing.hash('correct horse battery staple')));
    clearInterval(timer);
    // A hash on the loop would give the timer one turn for each.
    expect(turns).toBeGreaterThan(10);
  });

  it('is refused, not queued without end, when too many wait: 429 with when to come again', async () => {
    const hashing = new PasswordHashing(new PasswordPool());
    const all = await Promise.allSettled(
      Array.from({ length: 70 }, () => hashing.hash('correct horse battery staple')),
    );
    const refused = all.filter(({ status }) => status === 'rejected');
    // Sixty wait, beside those that are being made: one or two, as the machine has cores.
    expect([70 - 61, 70 - 62]).toContain(refused.length);
    for (const one of refused)
      expect(one).toMatchObject({ reason: { code: 'rate_limited', headers: { 'Retry-After': '2' } } });
    // And it goes on afterwards.
    await expect(hashing.hash('correct horse battery staple')).resolves.toMatch(PHC);
  });
});

describe('the places in which passwords wait', () => {
  const PASSWORD = 'correct horse battery staple';
  const refusedOf = async (hashes: readonly Promise<string>[]) =>
    (await Promise.allSettled(hashes)).filter(({ status }) => status === 'rejected').length;

  it('are an eighth one network’s, whose fill keeps nobody else out', async () => {
    const hashing = new PasswordHashing(new PasswordPool());
    const crowd = Array.from({ length: 70 }, () => hashing.hash(PASSWORD, '203.0.113.7'));
    const other = hashing.hash(PASSWORD, '203.0.113.8');
    // Eight wait, beside one or two that are being made.
    expect([70 - 9, 70 - 10]).toContain(await refusedOf(crowd));
    await expect(other).resolves.toMatch(PHC);
  });

  it('are a quarter one IPv6 site’s, however many networks it has', async () => {
    const hashing = new PasswordHashing(new PasswordPool());
    const crowd = Array.from({ length: 70 }, (_, i) => hashing.hash(PASSWORD, `2001:db8:1:${String(i)}::1`));
    const other = hashing.hash(PASSWORD, '2001:db8:2::1');
    expect([70 - 16, 70 - 17]).toContain(await refusedOf(crowd));
    await expect(other).resolves.toMatch(PHC);
  });
});

describe('a password that somebody gives', () => {
  const hashing = new PasswordHashing(new PasswordPool());

  it('is compared with a hash by what the hash says of itself', async () => {
    const hash = await hashing.hash('correct horse battery staple');
    expect(await hashing.verify(hash, 'correct horse battery staple')).toBe(true);
    expect(await hashing.verify(hash, 'correct horse battery stapl3')).toBe(false);
    const salt = Buffer.from('a salt of another');
    const tag = argon2Sync('argon2id', {
      message: 'of another cost',
      nonce: salt,
      tagLength: 16,
      memory: 64,
      passes: 3,
      parallelism: 2,
    });
    const other = `$argon2id$v=19$m=64,t=3,p=2$${plain(salt)}$${plain(tag)}`;
    expect(await hashing.verify(other, 'of another cost')).toBe(true);
    expect(await hashing.verify(other, 'of another')).toBe(false);
  });

  it('is nobody’s where there is no hash, which is found out by the same work', async () => {
    const asked: number[] = [];
    class WatchedPool extends PasswordPool {
      override derive(...[parameters, ip]: Parameters<PasswordPool['derive']>): Promise<Buffer> {
        asked.push(parameters.memory * parameters.passes);
        return super.derive(parameters, ip);
      }
    }
    const watched = new PasswordHashing(new WatchedPool());
    const hash = await watched.hash('correct horse battery staple');
    expect(await watched.verify(hash, 'wrong')).toBe(false);
    expect(await watched.verify(null, 'wrong')).toBe(false);
    expect(await watched.verify(undefined, '')).toBe(false);
    expect(new Set(asked).size).toBe(1);
    expect(asked).toHaveLength(4);
  });
});

describe('the threads of passwords', () => {
  it('are few, and give way to all else', async () => {
    const pool = new PasswordPool();
    const hashing = new PasswordHashing(pool);
    await Promise.all(Array.from({ length: 8 }, () => hashing.hash('correct horse battery staple')));
    if (process.platform === 'linux') {
      // Field 19 of `stat`, behind the name, is how nice a thread is.
      const nice = readdirSync('/proc/self/task').map((thread) => {
        const [, after = ''] = readFileSync(`/proc/self/task/${thread}/stat`, 'utf8').split(') ');
        return Number(after.split(' ')[16]);
      });
      expect(nice.filter((one) => one === 19).length).toBeGreaterThanOrEqual(1);
      expect(nice.some((one) => one === 0)).toBe(true);
    }
    await pool.onModuleDestroy();
  });

  it('that ended are replaced, and who was being served is told', async () => {
    const pool = new PasswordPool();
    const hashing = new PasswordHashing(pool);
    const broken = pool.derive({
      message: 'x',
      nonce: Buffer.alloc(2),
      tagLength: 32,
      memory: 19_456,
      passes: 2,
      parallelism: 1,
    });
    await expect(broken).rejects.toThrow();
    await expect(hashing.hash('correct horse battery staple')).resolves.toMatch(PHC);
    await pool.onModuleDestroy();
  });
});

function plain(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('=', '');
}
