import { newId } from '@customer-platform/database';
import { expectProblem, expectStatus } from '@customer-platform/testing';
import { Invitations, PASSWORD } from '../invitations/invitation.fixture.js';
import { HostileProvider } from './hostile-provider.fixture.js';
import { aBrowser, SsoBench, type TestConnection } from './sso-bench.fixture.js';
import { SsoRefusal } from '../vocabulary/sso-refusal.js';

describe('who comes from a provider', () => {
  let bench: SsoBench;
  let provider: HostileProvider;
  const browser = aBrowser();

  beforeAll(async () => {
    provider = await HostileProvider.start();
    bench = await SsoBench.start();
  });
  afterAll(async () => {
    await bench.end();
    await provider.close();
  });
  beforeEach(() => provider.behave());

  /** Comes with these claims; the user's id, or why there is none. */
  const come = async (connection: TestConnection, claims: Record<string, unknown>): Promise<string> => {
    const url = await bench.begin(connection, browser);
    provider.claims = claims;
    try {
      return (await bench.finish(provider.authorize(url), browser)).signedIn.userId;
    } catch (error) {
      if (error instanceof SsoRefusal) return error.reason;
      throw error;
    }
  };
  const somebody = ({ domain }: TestConnection, more: object = {}): Record<string, unknown> => ({
    sub: newId(),
    email: `${newId()}@${domain}`,
    email_verified: true,
    ...more,
  });

  it('becomes a user and member with the roles of the connection, once', async () => {
    const organization = await bench.identity.organization();
    const role = await bench.identity.role(organization.id, ['crm.notes.read'], 'human');
    const connection = await bench.connection(
      provider.issuer,
      { jit: true, jit_role_ids: [role] },
      organization,
    );
    const claims = somebody(connection, { name: 'Ana Rojas', locale: 'es_CL' });
    const url = await bench.begin(connection, browser);
    provider.claims = claims;
    const { asked, signedIn } = await bench.finish(provider.authorize(url), browser);
    expect([asked, signedIn.amr, signedIn.connectionId]).toEqual([
      { uid: `interaction-${connection.id}`, client: { organizationId: organization.id } },
      ['fed'],
      connection.id,
    ]);
    expect(await bench.user(signedIn.userId)).toEqual({
      email: claims['email'],
      name: 'Ana Rojas',
      locale: 'es-CL',
      status: 'active',
      email_verified: true,
      home: organization.id,
      password_hash: null,
      member_of: [organization.id],
      roles: [role],
    });
    expect(await come(connection, { sub: claims['sub'] })).toBe(signedIn.userId);
  });

  it('is known by (issuer, subject) from then on, whatever address the provider names', async () => {
    const connection = await bench.connection(provider.issuer, { jit: true });
    const claims = somebody(connection);
    const userId = await come(connection, claims);
    expect(await come(connection, { ...claims, email: `boss@${connection.domain}` })).toBe(userId);
    expect(await come(connection, { ...claims, sub: newId() })).toBe(userId);
    const other = await bench.connection(provider.issuer, { jit: true });
    expect(await come(other, claims)).toBe('foreign_domain');
  });

  it('is no member again who was made none', async () => {
    const connection = await bench.connection(provider.issuer, { jit: true });
    const claims = somebody(connection);
    const userId = await come(connection, claims);
    const path = `/v1/identity/memberships?user_id=${userId}`;
    expect((await connection.organization.admin.delete(path)).status).toBe(204);
    expect(await come(connection, claims)).toBe(userId);
    expect((await bench.user(userId))['member_of']).toBeNull();
  });

  it('makes one user of many first sign-ins at once', async () => {
    const connection = await bench.connection(provider.issuer, { jit: true });
    const claims = somebody(connection);
    const urls = await Promise.all(Array.from({ length: 10 }, () => bench.begin(connection, browser)));
    provider.claims = claims;
    // Each token for the request that its code verifier is of.
    provider.sign = (token) => {
      const nonce = urls.find((url) => provider.redeemedFor(url))?.searchParams.get('nonce');
      return provider.signed({ ...token, nonce });
    };
    const found = await Promise.all(urls.map((url) => bench.finish(provider.authorize(url), browser)));
    const users = new Set(found.map(({ signedIn }) => signedIn.userId));
    expect(users.size).toBe(1);
  });

  it.each([
    ['says that the address is not verified', { email_verified: false }],
    ['says nothing of it', { email_verified: undefined }],
    ['names no address', { email: undefined }],
    ['names what is none', { email: 'ana' }],
    ['names two in one', { email: 'a@b.example,c@d.example' }],
    ['names one that breaks lines', { email: 'a\r\nbcc: x@b.example' }],
  ])('no_verified_email where the provider %s', async (_, change) => {
    const connection = await bench.connection(provider.issuer, { jit: true });
    expect(await come(connection, somebody(connection, change))).toMatch(/no_verified_email|foreign_domain/);
  });

  it('foreign_domain for an address of a domain that is not the connection’s', async () => {
    const connection = await bench.connection(provider.issuer, { jit: true });
    for (const email of [
      'ana@example.com',
      `ana@sub.${connection.domain}`,
      `ana@${connection.domain}.evil.example`,
    ]) {
      expect(await come(connection, somebody(connection, { email }))).toBe('foreign_domain');
    }
  });

  it('no_account for whom nobody has made a user of, where the connection makes none', async () => {
    const connection = await bench.connection(provider.issuer);
    expect(await come(connection, somebody(connection))).toBe('no_account');
  });

  it('links who is at home here, and nobody who is at home elsewhere', async () => {
    const connection = await bench.connection(provider.issuer);
    const here = somebody(connection);
    const userId = await bench.person(connection.organization.id, String(here['email']));
    expect(await come(connection, here)).toBe(userId);
    const elsewhere = await bench.identity.organization();
    const there = somebody(connection);
    await bench.person(elsewhere.id, String(there['email']));
    expect(await come(connection, there)).toBe('account_elsewhere');
  });

  it('activates who was written down here, and takes home with JIT who was written down elsewhere', async () => {
    const connection = await bench.connection(provider.issuer);
    const { organization } = connection;
    const invited = somebody(connection);
    const made = await organization.admin.post<{ id: string }>('/v1/identity/users', {
      email: invited['email'],
      name: 'Written down',
    });
    expect(await come(connection, invited)).toBe(made.body.id);
    expect(await bench.user(made.body.id)).toMatchObject({ status: 'active', member_of: null });
    const squatter = await bench.identity.organization();
    const claims = somebody(connection);
    const squatted = await squatter.admin.post<{ id: string }>('/v1/identity/users', {
      email: claims['email'],
      name: 'Squatted',
    });
    await squatter.admin.post('/v1/identity/memberships', { user_id: squatted.body.id });
    expect(await come(connection, claims)).toBe('no_account');
    await bench.set(connection, { jit: true });
    expect(await come(connection, claims)).toBe(squatted.body.id);
    expect(await bench.user(squatted.body.id)).toMatchObject({
      home: organization.id,
      member_of: [organization.id],
    });
  });

  it('account_disabled for who is suspended or deleted, linked or not', async () => {
    const connection = await bench.connection(provider.issuer);
    const { admin, id } = connection.organization;
    const claims = somebody(connection);
    const userId = await bench.person(id, String(claims['email']));
    const path = `/v1/identity/users/${userId}`;
    await admin.patch(path, { status: 'suspended' });
    expect(await come(connection, claims)).toBe('account_disabled');
    await admin.patch(path, { status: 'active' });
    expect(await come(connection, claims)).toBe(userId);
    await admin.delete(path);
    expect(await come(connection, claims)).toBe('account_disabled');
  });

  it('is who was written down again here after a deletion, also for who was linked before; nobody elsewhere', async () => {
    const connection = await bench.connection(provider.issuer, { jit: true });
    const { admin } = connection.organization;
    const claims = somebody(connection);
    const before = await come(connection, claims);
    expectStatus(await admin.delete(`/v1/identity/users/${before}`), 204);
    expect(await come(connection, claims)).toBe('account_disabled');
    const elsewhere = await bench.identity.organization();
    const body = { email: claims['email'], name: 'Written down again' };
    const there = await elsewhere.admin.post<{ id: string }>('/v1/identity/users', body);
    expect(await come(connection, claims)).toBe('account_disabled');
    expectStatus(await elsewhere.admin.delete(`/v1/identity/users/${there.body.id}`), 204);
    const { body: again } = await admin.post<{ id: string }>('/v1/identity/users', body);
    expect(await come(connection, claims)).toBe(again.id);
    expect(await come(connection, { ...claims, email: undefined })).toBe(again.id);
  });

  it('is given as many roles of the connection as a member may have beside those of its own', async () => {
    const { identity } = bench;
    const organization = await identity.organization();
    const roles = await Promise.all(
      Array.from({ length: 21 }, () => identity.role(organization.id, ['crm.notes.read'], 'human')),
    );
    const connection = await bench.connection(
      provider.issuer,
      { jit: true, jit_role_ids: roles.slice(18) },
      organization,
    );
    const claims = somebody(connection);
    const { admin } = organization;
    const body = { email: claims['email'], name: 'Written down' };
    const { body: user } = await admin.post<{ id: string }>('/v1/identity/users', body);
    const { body: member } = await admin.post<{ id: string }>('/v1/identity/memberships', {
      user_id: user.id,
    });
    for (const role_id of roles.slice(0, 18))
      expectStatus(
        await admin.post('/v1/identity/role-assignments', { membership_id: member.id, role_id }),
        201,
      );
    expect(await come(connection, claims)).toBe(user.id);
    const given = await identity.database.query<{ role_id: string }>(
      'SELECT role_id FROM role_assignments WHERE membership_id = $1',
      [member.id],
    );
    expect(given.map(({ role_id: id }) => id).sort()).toEqual(roles.slice(0, 20).sort());
  });

  it('foreign_domain for a linked user whose own address is of another domain', async () => {
    const connection = await bench.connection(provider.issuer, { jit: true });
    const claims = somebody(connection);
    const userId = await come(connection, claims);
    await bench.identity.within(connection.organization.id, (tx) =>
      tx.query('UPDATE users SET email = $2 WHERE id = $1', [userId, `${newId()}@example.com`]),
    );
    expect(await come(connection, claims)).toBe('foreign_domain');
  });

  describe('the way in of an address', () => {
    it('is the active connection of its domain, and of no other', async () => {
      const connection = await bench.connection(provider.issuer, { enforced: true });
      const { id, domain, organization } = connection;
      const way = { connectionId: id, organizationId: organization.id, enforced: true };
      expect(await bench.sso.forEmail(`Ana@${domain.toUpperCase()}`)).toEqual(way);
      for (const email of [
        `ana@sub.${domain}`,
        `ana@${domain}.example`,
        domain,
        'ana',
        '@',
        `@${domain}`,
        '',
      ]) {
        expect(await bench.sso.forEmail(email)).toBeUndefined();
      }
      await bench.set(connection, { status: 'inactive' });
      expect(await bench.sso.forEmail(`ana@${domain}`)).toBeUndefined();
    });

    it('takes no password where it is enforced, save of an owner there with a second factor', async () => {
      const connection = await bench.connection(provider.issuer, { enforced: true });
      const { organization, domain } = connection;
      const email = `${newId()}@${domain}`;
      const userId = await bench.person(organization.id, email);
      const mayUse = (): Promise<boolean> => bench.sso.allowsPassword({ userId, email });
      expect(await mayUse()).toBe(false);
      await bench.identity.member(organization, userId, 'owner');
      expect(await mayUse()).toBe(false);
      await bench.identity.within(organization.id, (tx) =>
        tx.query(
          `INSERT INTO mfa_factors (organization_id, id, user_id, type, name, secret, confirmed_at, created_at, connection_id)
           VALUES ($1, $2, $3, 'totp', 'Phone', '\\x00', now(), now(), $4)`,
          [organization.id, newId(), userId, connection.id],
        ),
      );
      expect(await mayUse()).toBe(true);
      expect(await bench.sso.allowsPassword({ userId: newId(), email })).toBe(false);
      await bench.set(connection, { enforced: false });
      expect(await bench.sso.allowsPassword({ userId: newId(), email })).toBe(true);
    });
  });

  describe('an invitation to an address of an enforced domain', () => {
    const invited = async (connection: TestConnection, where = connection.organization) => {
      const guests = new Invitations(bench.identity);
      const email = `${newId()}@${connection.domain}`;
      const invitation = await guests.invite(where, { email });
      return { guests, email, token: await guests.token(where, invitation) };
    };

    it('takes a name, no password, and gives no token: the provider lets them in', async () => {
      const connection = await bench.connection(provider.issuer, { enforced: true });
      const { guests, email, token } = await invited(connection);
      const name = 'Gabriela Mistral';
      const refused = expectProblem(
        await guests.accept({ token, name, password: PASSWORD }),
        400,
        'validation_failed',
      );
      expect(refused.errors).toEqual([
        expect.objectContaining({ pointer: '/password', code: 'not_allowed' }),
      ]);
      expectProblem(await guests.accept({ token }), 400, 'validation_failed');
      const answer = await guests.accept({ token, name });
      expect([answer.status, answer.body.status, answer.body.access_token]).toEqual([
        200,
        'accepted',
        undefined,
      ]);
      const userId = await come(connection, somebody(connection, { email }));
      expect(await bench.user(userId)).toMatchObject({
        email,
        name,
        status: 'active',
        password_hash: null,
        member_of: [connection.organization.id],
      });
    });

    it('401 sign_in_required where the domain is another organization’s', async () => {
      const connection = await bench.connection(provider.issuer, { enforced: true, jit: true });
      const elsewhere = await bench.identity.organization();
      const { guests, token } = await invited(connection, elsewhere);
      expectProblem(await guests.accept({ token, name: 'Gabriela' }), 401, 'sign_in_required');
    });
  });
});
