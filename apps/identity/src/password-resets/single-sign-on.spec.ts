import { Global, Module } from '@nestjs/common';
import { newId } from '@customer-platform/database';
import { expectProblem, expectStatus } from '@customer-platform/testing';
import { IdentityBench, type TestOrganization } from '../identity-app.fixture.js';
import { IdentityModule } from '../identity.module.js';
import { SSO_WAY, type SsoWay } from '../sign-in/sso-domains.js';
import { Resets, type Person } from './password-resets.fixture.js';

/** Addresses whose organization demands its own sign-in, and those of an organization that merely offers it. */
const enforced = new Set<string>();
const offered = new Set<string>();
const connections: Pick<SsoWay, 'forEmail'> = {
  forEmail: (email) =>
    Promise.resolve(
      enforced.has(email) || offered.has(email)
        ? { connectionId: newId(), enforced: enforced.has(email) }
        : undefined,
    ),
};

class Connections {}
Module({
  providers: [{ provide: SSO_WAY, useValue: connections }],
  exports: [SSO_WAY],
})(Connections);
Global()(Connections);
class WithConnections {}
Module({ imports: [Connections, IdentityModule] })(WithConnections);

let bench: IdentityBench;
let organization: TestOrganization;
let resets: Resets;
beforeAll(async () => {
  bench = await IdentityBench.start({}, WithConnections);
  resets = new Resets(bench);
  organization = await bench.organization();
});
afterAll(() => bench.end());

const withFactor = ({ id }: Person): Promise<unknown> =>
  bench.database.query(
    `INSERT INTO mfa_factors (organization_id, id, user_id, type, name, secret, confirmed_at, created_at)
     VALUES ($1, $2, $3, 'totp', 'Phone', '\\x00', now(), now())`,
    [organization.id, newId(), id],
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
    const person = await resets.person(organization);
    enforced.add(person.email);
    expect(await isNoticed(person)).toBe(true);
  });

  it('cannot use a link from before that either', async () => {
    const person = await resets.person(organization);
    const token = await resets.token(person);
    enforced.add(person.email);
    expectProblem(await resets.confirm(token), 401, 'invalid_token');
    enforced.delete(person.email);
    expectStatus(await resets.confirm(token), 200);
  });

  it('gets a link where the sign-in is merely offered', async () => {
    const person = await resets.person(organization);
    offered.add(person.email);
    expect(await isNoticed(person)).toBe(false);
  });

  it('gets one as an owner with a second factor, and as no other', async () => {
    const [owner, secured, both] = [
      await resets.person(organization),
      await resets.person(organization),
      await resets.person(organization),
    ];
    for (const person of [owner, both]) await asOwner(person);
    for (const person of [secured, both]) await withFactor(person);
    for (const { email } of [owner, secured, both]) enforced.add(email);
    expect([await isNoticed(owner), await isNoticed(secured), await isNoticed(both)]).toEqual([
      true,
      true,
      false,
    ]);
  });
});
