import { newId } from '@customer-platform/database';
import { expectProblem, expectStatus } from '@customer-platform/testing';
import type { IdentityBench } from '../identity-app.fixture.js';
import { NEW_PASSWORD } from '../password-resets/password-resets.fixture.js';
import { People, PASSWORD } from '../sign-in/page-visitor.fixture.js';
import { HostileProvider } from '../sso-connections/hostile-provider.fixture.js';
import { SsoBench, type TestConnection } from '../sso-connections/sso-bench.fixture.js';

const PATH = '/v1/identity/users/me/password';
const BODY = { current_password: PASSWORD, password: NEW_PASSWORD };

let sso: SsoBench;
let bench: IdentityBench;
let provider: HostileProvider;
let connection: TestConnection;
beforeAll(async () => {
  provider = await HostileProvider.start();
  sso = await SsoBench.start();
  bench = sso.identity;
});
beforeEach(async () => {
  connection = await sso.connection(provider.issuer);
});
afterAll(async () => {
  await sso.end();
  await provider.close();
});

/** Somebody of the connection's domain with a password, and a member of another organization, too, if asked for. */
async function aPerson({ elsewhere = false } = {}): Promise<string> {
  const { userId } = await new People(bench).person(connection.organization);
  const email = `${newId()}@${connection.domain}`;
  await bench.database.query('UPDATE users SET email = $2 WHERE id = $1', [userId, email]);
  if (elsewhere) await bench.join((await bench.organization()).id, userId);
  return userId;
}

const comesBy = async (userId: string) => {
  const now = new Date();
  const how = { amr: ['fed'], connectionId: connection.id, authTime: now };
  return (await bench.signIn(connection.organization.id, userId, how)).caller;
};

it('403 single_sign_on_required where the organization demands its own sign-in of the address', async () => {
  const userId = await aPerson();
  const caller = await comesBy(userId);
  await sso.set(connection, { enforced: true });
  expectProblem(await caller.post(PATH, BODY), 403, 'single_sign_on_required');
});

it('403 for who has no password: whoever edits the connection would have one for other organizations', async () => {
  const userId = await aPerson({ elsewhere: true });
  await bench.database.query('UPDATE users SET password_hash = NULL WHERE id = $1', [userId]);
  const caller = await comesBy(userId);
  expectProblem(await caller.post(PATH, { password: NEW_PASSWORD }), 403, 'single_sign_on_required');
});

it('is changed by the present one where the sign-in is merely offered, or is good elsewhere', async () => {
  const caller = await comesBy(await aPerson());
  expectStatus(await caller.post(PATH, BODY), 200);
  const other = await comesBy(await aPerson({ elsewhere: true }));
  await sso.set(connection, { enforced: true });
  expectStatus(await other.post(PATH, BODY), 200);
});
