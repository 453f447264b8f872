import { jest } from '@jest/globals';
import { testDatabase, type TestDatabase } from '@customer-platform/testing';
import { CompactSign, compactVerify } from 'jose';
import type { DataSource, MigrationInterface, QueryRunner } from 'typeorm';
import { dataSourceOf } from '../src/data-source.js';
import { Clock, Database, execute, KeySeal, SigningKeys, signingKeysTable } from '../src/index.js';

const DAY_MS = 86_400_000;
const MASTER = Buffer.alloc(32, 7);

/** A clock that a test moves. */
class HandClock extends Clock {
  at = Date.now();

  override now(): Date {
    return new Date(this.at);
  }
}

class CreateSigningKeys1700000000000 implements MigrationInterface {
  up(runner: QueryRunner): Promise<void> {
    return execute(runner, signingKeysTable());
  }

  down(runner: QueryRunner): Promise<void> {
    return execute(runner, ['DROP TABLE signing_keys']);
  }
}

const migrations = [CreateSigningKeys1700000000000];
let test: TestDatabase;
let source: DataSource;
let clock: HandClock;

beforeAll(async () => {
  test = await testDatabase('signing', migrations);
  source = dataSourceOf({ module: 'signing', entities: [], migrations, url: test.url, poolSize: 10 });
  await source.initialize();
});
afterAll(async () => {
  await source.destroy();
  await test.drop();
});
beforeEach(async () => {
  clock = new HandClock();
  await test.query('DELETE FROM signing_keys');
});

/** One process of the module. */
const aProcess = (master = MASTER, module = 'signing'): SigningKeys =>
  new SigningKeys(new Database(source), clock, new KeySeal(master, module));

describe('the signing keys', () => {
  it('are one for all processes, made once by whoever asks first', async () => {
    const keys = await Promise.all(Array.from({ length: 8 }, () => aProcess().toSign('member_tokens')));
    expect(new Set(keys.map(({ kid }) => kid)).size).toBe(1);
    const [signer] = keys;
    if (!signer) throw new Error('no key');
    const signature = await new CompactSign(Buffer.from('text'))
      .setProtectedHeader({ alg: 'ES256', kid: signer.kid })
      .sign(signer.privateKey);
    const verifier = await aProcess().toVerify('member_tokens', signer.kid);
    if (!verifier) throw new Error('the key is not there');
    await expect(compactVerify(signature, verifier.publicKey)).resolves.toMatchObject({
      payload: new Uint8Array(Buffer.from('text')),
    });
  });

  it('are each for one purpose', async () => {
    const keys = aProcess();
    const { kid } = await keys.toSign('member_tokens');
    expect(await keys.toVerify('audit_checkpoints', kid)).toBeUndefined();
    expect((await keys.toSign('audit_checkpoints')).kid).not.toBe(kid);
    // Nor by moving the row: the seal says what the key is for.
    await test.query(`UPDATE signing_keys SET purpose = 'audit_checkpoints' WHERE kid = $1`, [kid]);
    expect(await aProcess().toVerify('audit_checkpoints', kid)).toBeUndefined();
  });

  it('are replaced after 90 days by one that was shown for a day, and verify for ever', async () => {
    const first = await aProcess().toSign('member_tokens');
    const kidAfter = async (days: number) => {
      clock.at += days * DAY_MS;
      return (await aProcess().toSign('member_tokens')).kid;
    };
    expect(await kidAfter(89)).toBe(first.kid);
    expect(await kidAfter(1.1)).toBe(first.kid);
    const shown = await test.query<{ public_key: object }>(
      `SELECT public_key FROM signing_keys WHERE purpose = 'member_tokens'`,
    );
    expect(shown).toHaveLength(2);
    expect(shown[0]?.public_key).not.toHaveProperty('d');
    const second = await kidAfter(1);
    expect(second).not.toBe(first.kid);
    expect(await kidAfter(1)).toBe(second);
    expect(await aProcess().toVerify('member_tokens', first.kid)).toMatchObject({ kid: first.kid });
  });

  it('are shown, next one included, until the last of their signatures has had its time', async () => {
    const kids = async () => (await aProcess().shown('member_tokens', DAY_MS)).map(({ kid }) => kid);
    const [first] = await kids();
    expect(await aProcess().toSign('member_tokens')).toMatchObject({ kid: first });
    clock.at += 90.5 * DAY_MS;
    const [, second] = await kids();
    expect(await kids()).toEqual([first, second]);
    expect((await aProcess().toSign('member_tokens')).kid).toBe(first);
    clock.at += 2.1 * DAY_MS;
    expect(await kids()).toEqual([second]);
    const [shown] = await aProcess().shown('member_tokens', DAY_MS);
    expect(Object.keys(shown ?? {}).sort()).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y']);
  });

  it('are replaced by hand with nothing refused, and verify nothing a second after they were retired', async () => {
    const [signer, verifier] = [aProcess(), aProcess()];
    const verifies = async (kid: string) => (await verifier.toVerify('member_tokens', kid)) !== undefined;
    const former = (await signer.toSign('member_tokens')).kid;
    expect(await verifies(former)).toBe(true);
    await expect(aProcess().retire('member_tokens', former)).rejects.toThrow('No other key may sign yet');
    const next = await aProcess().rotate('member_tokens', 10_000);
    clock.at += 5_000;
    expect(await aProcess().list('member_tokens')).toMatchObject([
      { kid: former, state: 'signing' },
      { kid: next, state: 'next' },
    ]);
    await expect(aProcess().retire('member_tokens', former)).rejects.toThrow('No other key may sign yet');
    // From one to the other: whatever signs, it verifies.
    for (let second = 0; second < 8; second += 1) {
      const { kid } = await signer.toSign('member_tokens');
      expect(await verifies(kid)).toBe(true);
      clock.at += 1_000;
    }
    expect((await signer.toSign('member_tokens')).kid).toBe(next);
    expect(await verifies(former)).toBe(true);
    expect(await aProcess().retire('audit_checkpoints', former)).toBe(false);
    expect(await aProcess().retire('member_tokens', former)).toBe(true);
    clock.at += 1_000;
    expect([await verifies(former), await verifies(next)]).toEqual([false, true]);
    expect(await aProcess().retire('member_tokens', former)).toBe(false);
  });

  it('two of which wait for their day do not sign before it', async () => {
    const signing = (await aProcess().toSign('waiting')).kid;
    const ids = [await aProcess().rotate('waiting'), await aProcess().rotate('waiting')];
    expect((await aProcess().toSign('waiting')).kid).toBe(signing);
    const [first] = await aProcess().held('waiting', 0, 'ES256');
    expect(first?.kid).toBe(signing);
    clock.at += DAY_MS;
    expect(ids).toContain((await aProcess().toSign('waiting')).kid);
  });

  it('that are made up have the table looked at ten times a second at most', async () => {
    const verifier = aProcess();
    const { kid } = await verifier.toSign('member_tokens');
    await verifier.toVerify('member_tokens', 'made-up');
    const seen = jest.spyOn(source, 'createQueryRunner');
    for (let times = 0; times < 50; times += 1)
      await verifier.toVerify('member_tokens', `made-up-${String(times)}`);
    expect(seen).not.toHaveBeenCalled();
    seen.mockRestore();
    clock.at += 100;
    expect(await verifier.toVerify('member_tokens', kid)).toBeDefined();
  });

  it('open under ENCRYPTION_KEY only, and show no private half in the table', async () => {
    const { kid } = await aProcess().toSign('member_tokens');
    expect(await aProcess(Buffer.alloc(32, 8)).toVerify('member_tokens', kid)).toBeUndefined();
    expect(await aProcess(MASTER, 'other').toVerify('member_tokens', kid)).toBeUndefined();
    const [row] = await test.query<{ sealed_private_key: string }>(
      'SELECT sealed_private_key FROM signing_keys',
    );
    expect(row?.sealed_private_key).toMatch(/^v1(\.[\w-]+){3}$/);
  });
});

describe('keys of another algorithm', () => {
  it('are handed out whole, the one that signs first, each until what it signed has ended', async () => {
    const keys = aProcess();
    const held = () => keys.held('id_tokens', 3_600_000, 'RS256');
    const [first] = await held();
    expect(first).toMatchObject({ kty: 'RSA', alg: 'RS256', use: 'sig', d: expect.any(String) as string });
    const next = await keys.rotate('id_tokens', DAY_MS, 'RS256');
    expect((await held()).map(({ kid }) => kid)).toEqual([first?.kid, next]);
    clock.at += DAY_MS + 1_000;
    expect((await keys.toSign('id_tokens', 'RS256')).kid).toBe(next);
    expect((await held()).map(({ kid }) => kid)).toEqual([next, first?.kid]);
    const shown = await keys.shown('id_tokens', 3_600_000, 'RS256');
    expect(shown.map(({ kid }) => kid)).toEqual([first?.kid, next]);
    expect(JSON.stringify(shown)).not.toContain('"d"');
    clock.at += 3_600_000;
    expect((await held()).map(({ kid }) => kid)).toEqual([next]);
  });
});
