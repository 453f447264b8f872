import { argon2Sync } from 'node:crypto';
import { PasswordHashing } from './password-hashing.js';

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
    const hashing = new PasswordHashing();
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
    const hash = await new PasswordHashing().hash('nandu\u0303 azul del sur');
    expect(agrees(hash, 'nandu\u0303 azul del sur'.normalize('NFC'))).toBe(true);
  });

  it('leaves the event loop free: timers go on while many are made', async () => {
    const hashing = new PasswordHashing();
    let turns = 0;
    const timer = setInterval(() => (turns += 1), 1);
    await Promise.all(Array.from({ length: 10 }, () => hashing.hash('correct horse battery staple')));
    clearInterval(timer);
    // A hash on the loop would give the timer one turn for each.
    expect(turns).toBeGreaterThan(10);
  });

  it('is refused, not queued without end, when too many wait: 429 with when to come again', async () => {
    const hashing = new PasswordHashing();
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
