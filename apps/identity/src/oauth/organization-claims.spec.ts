import { Caller, expectStatus } from '@customer-platform/testing';
import { decodeJwt } from 'jose';
import { IdentityBench, type TestMember, type TestOrganization } from '../identity-app.fixture.js';
import { CALLBACK, signsIn, TestClient } from './browser.fixture.js';
import type { OrganizationClaimsDto } from './organization-claims.js';

const SCOPE = 'openid profile email offline_access organization';
const CLAIMS = ['organization', 'organizations', 'more_organizations', 'permissions', 'restriction'];

type UserInfo = Partial<OrganizationClaimsDto> & { sub: string };

let bench: IdentityBench;
let organization: TestOrganization;
let client: TestClient;
let member: TestMember;
beforeAll(async () => {
  bench = await IdentityBench.start();
});
afterAll(() => bench.end());
beforeEach(async () => {
  organization = await bench.organization();
  client = await TestClient.register(bench, organization, { type: 'public', name: 'Pages' });
  member = await bench.signedIn(organization, 'analyst');
});

/** Makes the client one of the root's, which serves all organizations. */
const ofRoot = async () => {
  await bench.database.query(
    `UPDATE oauth_clients SET organizations = 'tree',
       organization_id = (SELECT id FROM organizations WHERE parent_id IS NULL) WHERE id = $1`,
    [client.id],
  );
};

const ask = async (token: string): Promise<UserInfo> => {
  const answer = await new Caller(bench.app.url, token).get<UserInfo>('/oauth/userinfo');
  expectStatus(answer, 200);
  return answer.body;
};

const tokensFor = (userId: string, further: Record<string, string> = {}) =>
  client.tokens(signsIn(userId), { further: { scope: SCOPE, ...further } });

describe('the scope organization', () => {
  it('tells where its user is and what the user may do there, as it is at the moment', async () => {
    const { access_token: token } = await tokensFor(member.userId);
    await organization.admin.patch(`/v1/identity/organizations/${organization.id}`, {
      locale: 'es-CL',
      settings: { branding: { color: '#112233' } },
    });
    const told = await ask(token);
    const { body: shown } = await organization.admin.get<{ name: string; slug: string; timezone: string }>(
      `/v1/identity/organizations/${organization.id}`,
    );
    const { name, slug, timezone } = shown;
    expect(told).toMatchObject({
      sub: member.userId,
      organization: {
        id: organization.id,
        name,
        slug,
        timezone,
        locale: 'es-CL',
        branding: { color: '#112233', logo_url: null },
      },
      organizations: [{ id: organization.id, name, slug }],
      more_organizations: false,
      restriction: null,
    });
    expect(told.permissions).toContain('core.contacts.read');
    expect(told.permissions).not.toContain('core.contacts.update');

    await organization.admin.delete(`/v1/identity/role-assignments/${member.assignmentId}`);
    expect((await ask(token)).permissions).toEqual([]);
  });

  it('is in userinfo alone, where it was asked for: no token grows by it', async () => {
    const { access_token: access, id_token: id } = await tokensFor(member.userId);
    for (const token of [access, id])
      for (const claim of CLAIMS) expect(decodeJwt(token)).not.toHaveProperty(claim);
    expect(access.length).toBeLessThan(1_024);
    const { access_token: plain } = await tokensFor(member.userId, { scope: 'openid profile email' });
    const told = await ask(plain);
    for (const claim of CLAIMS) expect(told).not.toHaveProperty(claim);
  });

  it('names to a client of one organization no other of its user’s', async () => {
    const other = await bench.organization();
    await bench.join(other.id, member.userId);
    const { access_token: token } = await tokensFor(member.userId);
    expect((await ask(token)).organizations?.map(({ id }) => id)).toEqual([organization.id]);
  });

  it('names to a client of the root all in which its user can act, and no more than it says', async () => {
    await ofRoot();
    const many = await bench.database.query<{ id: string }>(
      `SELECT id FROM organizations WHERE parent_id IS NOT NULL AND id <> $1`,
      [organization.id],
    );
    const suspended = await bench.organization();
    await bench.join(suspended.id, member.userId);
    await bench.database.query(`UPDATE organizations SET status = 'suspended' WHERE id = $1`, [suspended.id]);
    const open = await bench.organization();
    await bench.join(open.id, member.userId);
    const { access_token: token } = await tokensFor(member.userId, { organization: organization.id });
    const told = await ask(token);
    expect(told.organizations?.map(({ id }) => id).sort()).toEqual([open.id, organization.id].sort());
    expect(many.length).toBeGreaterThan(0);

    await bench.within(organization.id, (tx) =>
      tx.query(`INSERT INTO organizations (organization_id, id, parent_id, path, name, slug, locale, timezone, settings, status, created_at, updated_at)
        SELECT n.id, n.id, o.parent_id, o.path[:1] || n.id, 'Many', 'many-' || n.id, o.locale, o.timezone, o.settings, 'active', now(), now()
          FROM organizations o, (SELECT gen_random_uuid() AS id FROM generate_series(1, 100)) n WHERE o.id = '${organization.id}'`),
    );
    await bench.within(organization.id, (tx) =>
      tx.query(
        `INSERT INTO memberships (organization_id, id, user_id, created_at, updated_at)
         SELECT organization_id, gen_random_uuid(), $1, now(), now() FROM organizations WHERE name = 'Many'`,
        [member.userId],
      ),
    );
    const all = await ask(token);
    expect([all.organizations?.length, all.more_organizations]).toEqual([100, true]);
  });

  it('says what holds the permissions back', async () => {
    await ofRoot();
    const { access_token: token } = await tokensFor(member.userId);
    const path = `/v1/identity/organizations/${organization.id}`;
    await organization.admin.patch(path, { settings: { mfa_policy: 'required' } });
    expect((await ask(token)).restriction).toBe('mfa_required');
    await bench.database.query(`UPDATE organizations SET status = 'suspended' WHERE id = $1`, [
      organization.id,
    ]);
    expect((await ask(token)).restriction).toBe('organization_suspended');
  });
});

describe('prompt=organization', () => {
  it('asks whoever is signed in for another one, and the former session goes on', async () => {
    await ofRoot();
    const other = await bench.organization();
    await bench.join(other.id, member.userId);
    const first = await client.tokens(signsIn(member.userId, organization.id));
    const prompts: string[] = [];
    const second = await client.tokens(
      (interaction) => {
        prompts.push(interaction.prompt);
        return signsIn(member.userId, other.id)(interaction);
      },
      { browser: first.browser, further: { prompt: 'organization' } },
    );
    expect(prompts).toEqual(['organization']);
    expect(decodeJwt(second.access_token)['org_id']).toBe(other.id);
    const renewed = await client.refresh(first.refresh_token);
    expect(decodeJwt(renewed.body.access_token)['org_id']).toBe(organization.id);
  });
});

describe('prompt=none', () => {
  const silently = { prompt: 'none', scope: SCOPE };

  it('gives each page of a client that asks nobody a refresh token of its own', async () => {
    const first = await tokensFor(member.userId);
    const { browser } = first;
    const second = await client.tokens(signsIn(member.userId), { browser, further: silently });
    expect(second.refresh_token).not.toBe(first.refresh_token);
    expect(decodeJwt(second.access_token)['sid']).toBe(decodeJwt(first.access_token)['sid']);
    // Two pages that renew at the same moment are no copies of each other.
    const renewed = await Promise.all([first, second].map((tokens) => client.refresh(tokens.refresh_token)));
    expect(renewed.map(({ status }) => status)).toEqual([200, 200]);
    expect(await bench.endings(member.userId)).not.toContain('token_reuse');
  });

  it('says by the redirect, without a page, that somebody must sign in', async () => {
    const { back } = await client.code(signsIn(member.userId), { further: silently });
    expect(back.origin + back.pathname).toBe(CALLBACK);
    expect(back.searchParams.get('error')).toBe('login_required');
  });

  it('gives none to a client that has to ask', async () => {
    const asking = await TestClient.register(bench, organization, { organizations: 'tree' });
    const agree = { further: { scope: SCOPE } };
    const { browser } = await asking.tokens(signsIn(member.userId), agree);
    const silent = await asking.tokens(signsIn(member.userId), { browser, further: silently });
    expect(silent.refresh_token).toBeUndefined();
  });
});
