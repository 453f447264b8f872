import { randomBytes } from 'node:crypto';
import { IdentityBench } from '../identity-app.fixture.js';
import { PasswordHashing } from '../passwords/password-hashing.js';
import { PasswordSignIn } from './password-sign-in.js';

const PASSWORD = 'correct horse battery staple';

let bench: IdentityBench;
beforeAll(async () => {
  bench = await IdentityBench.start();
}, 60_000);
afterAll(() => bench.end());

/** A user with this address, as a release before kept it; `_` stands for what makes it theirs. */
async function kept(address: string) {
  const { id: organizationId } = await bench.organization();
  const id = await bench.person(organizationId);
  const hash = await bench.app.app.get(PasswordHashing, { strict: false }).hash(PASSWORD);
  const email = address.replace('_', id);
  await bench.database.query('UPDATE users SET email = $2, password_hash = $3 WHERE id = $1', [
    id,
    email,
    hash,
  ]);
  const signIn = bench.app.app.get(PasswordSignIn, { strict: false });
  const check = (typed: string) => {
    const ip = [...randomBytes(4)].map(String).join('.');
    return signIn.check({ organizationId, email: typed.replace('_', id), password: PASSWORD, ip });
  };
  return { id, check };
}

describe('a user whose address was kept by a release before', () => {
  it.each([
    ['_@xn--and-6ma2c.cl', ['_@xn--and-6ma2c.cl', '_@ñandú.cl', '_@Ñandú.cl\u00a0']],
    ['_@ñandú.cl', ['_@ñandú.cl', '_@XN--and-6ma2c.cl', '_\u200b@n\u0303andu\u0301.cl']],
    ['ínes_@example.com', ['ínes_@example.com', 'Ínes_@Example.com']],
  ])('%s is known by it and by other writings of it', async (address, writings) => {
    const { id, check } = await kept(address);
    for (const typed of writings) expect(await check(typed)).toMatchObject({ userId: id });
    expect(await check('other-_@ñandú.cl')).toBeUndefined();
  });
});
