import { newId } from '@customer-platform/database';
import { expectProblem, expectStatus } from '@customer-platform/testing';
import type { TestOrganization } from '../identity-app.fixture.js';
import { HostileProvider } from '../sso-connections/hostile-provider.fixture.js';
import { SsoBench, type TestConnection } from '../sso-connections/sso-bench.fixture.js';
import { Resets, type Person } from './password-resets.fixture.js';

let sso: SsoBench;
let bench: SsoBench['identity'];
let provider: HostileProvider;
let organization: TestOrganization;
let connection: TestConnection;
let resets: Resets;
beforeAll(async () => {
  provider = await HostileProvider.start();
  sso = await SsoBench.start();
  bench = sso.identity;
  resets = new Resets(bench);
  organization = await bench.organization();
});
beforeEach(async () => {
  connection = await sso.connection(provider.issuer, { enforced: true }, organization);
});
afterAll(async () => {
  await sso.end();
  await provider.close();
});

/** Somebody with an address of the connection's domain. */
const aPerson = async (): Promise<Person> => {
  const person = await resets.person(organization);
  const email = `${newId()}@${connection.domain}`;
  await bench.database.query('UPDATE users SET email = $2 WHERE id = $1', [person.id, email]);
  return { ...person, email };
};

const withFactor = ({ id }: Person): Promise<unknown> =>
  bench.database.query(
    `INSERT INTO mfa_factors (organization_id, id, user_id, type, name, secret, confirmed_at, created_at, connection_id)
     VALUES ($1, $2, $3, 'totp', 'Phone', '\\x00', now(), now(), $4)`,
    [organization.id, newId(), id, connection.id],
  );

const asOwner = async ({ id }: Person): Promise<void> => {
  const { admin } = organization;
  const memberships = await admin.get<{ data: { id: string }[] }>(`/v1/identity/memberships?user_id=${id}`);
  const roles = await admin.get<{ data: { id: string; key: string }[] }>(
    '/v1/identity/roles?built_in=true&kind=human&limit=200',
  );
  const role_id = roles.body.data.find(({ key }) => key === 'owner')?.id;
  const body = { membership_id: memberships.body.data[0]?.id, role_id };
  expectStatus(await admin.post('/v1/identity/role-assignments', body), 201);
};

/** Whether the mail says that there is no password to choose. */
const isNoticed = async (person: Person): Promise<boolean> => {
  expectStatus(await resets.ask(person.email), 202);
  await resets.settled();
  const { body } = await resets.link(person);
  expect(body.link.includes('token')).toBe(body.notice === undefined);
  return body.notice === 'single_sign_on';
};

describe('a user of a domain whose sign-in is enforced', () => {
  it('gets a mail that says so, and no link', async () => {
    expect(await isNoticed(await aPerson())).toBe(true);
  });

  it('cannot use a link from before that either', async () => {
    const person = await aPerson();
    await sso.set(connection, { enforced: false });
    const token = await resets.token(person);
    await sso.set(connection, { enforced: true });
    expectProblem(await resets.confirm(token), 401, 'invalid_token');
    await sso.set(connection, { enforced: false });
    expectStatus(await resets.confirm(token), 200);
  });

  it('gets a link where the sign-in is merely offered', async () => {
    await sso.set(connection, { enforced: false });
    expect(await isNoticed(await aPerson())).toBe(false);
  });

  it('gets one as an owner with a second factor, and as no other', async () => {
    const [owner, secured, both] = [await aPerson(), await aPerson(), await aPerson()];
    for (const person of [owner, both]) await asOwner(person);
    for (const person of [secured, both]) await withFactor(person);
    expect([await isNoticed(owner), await isNoticed(secured), await isNoticed(both)]).toEqual([
      true,
      true,
      false,
    ]);
  });
});
