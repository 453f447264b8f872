import { Clock, Database } from '@customer-platform/database';
import { CompactSign, compactVerify } from 'jose';
import { startCore, START_MS, type TestCore } from '../core.fixture.js';
import { KeySeal } from './key-seal.js';
import { SigningKeys } from './signing-keys.js';

const DAY_MS = 86_400_000;
const MASTER = Buffer.alloc(32, 7);

/** A clock that a test moves. */
class HandClock extends Clock {
  at = Date.now();

  override now(): Date {
    return new Date(this.at);
  }
}

let core: TestCore;
let clock: HandClock;

beforeAll(async () => {
  core = await startCore();
}, START_MS);
afterAll(() => core.close());
beforeEach(async () => {
  clock = new HandClock();
  await core.database.query('DELETE FROM signing_keys');
});

/** One process of core. */
const aProcess = (master = MASTER): SigningKeys =>
  new SigningKeys(core.app.app.get(Database), clock, new KeySeal(master));

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
    await core.database.query(`UPDATE signing_keys SET purpose = 'audit_checkpoints' WHERE kid = $1`, [kid]);
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
    const shown = await core.database.query<{ public_key: object }>(
      `SELECT public_key FROM signing_keys WHERE purpose = 'member_tokens'`,
    );
    expect(shown).toHaveLength(2);
    expect(shown[0]?.public_key).not.toHaveProperty('d');
    const second = await kidAfter(1);
    expect(second).not.toBe(first.kid);
    expect(await kidAfter(1)).toBe(second);
    expect(await aProcess().toVerify('member_tokens', first.kid)).toMatchObject({ kid: first.kid });
  });

  it('open under ENCRYPTION_KEY only, and show no private half in the table', async () => {
    const { kid } = await aProcess().toSign('member_tokens');
    expect(await aProcess(Buffer.alloc(32, 8)).toVerify('member_tokens', kid)).toBeUndefined();
    const [row] = await core.database.query<{ sealed_private_key: string }>(
      'SELECT sealed_private_key FROM signing_keys',
    );
    expect(row?.sealed_private_key).toMatch(/^v1(\.[\w-]+){3}$/);
  });
});
