import { randomUUID } from 'node:crypto';
import { type Answer, expectProblem, peerModule } from '@customer-platform/testing';
import type { TestOrganization } from '../identity-app.fixture.js';
import { HostileProvider } from '../sso-connections/hostile-provider.fixture.js';
import { SsoBench } from '../sso-connections/sso-bench.fixture.js';
import { Resets, type Person } from '../password-resets/password-resets.fixture.js';
import type { AccountLink } from './account-links.js';

let sso: SsoBench;
let bench: SsoBench['identity'];
let provider: HostileProvider;
let people: Resets;
let organization: TestOrganization;
let person: Person;
beforeAll(async () => {
  provider = await HostileProvider.start();
  sso = await SsoBench.start();
  bench = sso.identity;
  people = new Resets(bench);
});
afterAll(async () => {
  await sso.end();
  await provider.close();
});
beforeEach(async () => {
  organization = await bench.organization();
  person = await people.person(organization);
});

/** Asks what identity tells a module that writes to somebody about an account. */
async function linkOf(id: string, module = 'messaging'): Promise<Answer<AccountLink & { code: string }>> {
  const caller = await peerModule(module, 'identity', bench.app.internalUrl);
  return caller.get(`/internal/links/account/${id}?organization_id=${organization.id}`);
}

describe('GET /internal/links/account/{id}', () => {
  it('says where its user is written to, and the page that asks for a new password, without a token', async () => {
    await bench.database.query(`UPDATE users SET locale = 'es-CL' WHERE id = $1`, [person.id]);
    const { body } = await linkOf(person.id);
    const { link, ...said } = body;
    expect(said).toEqual({
      address: person.email,
      organization_name: expect.any(String) as string,
      platform_organization_id: expect.any(String) as string,
      tenant_id: organization.id,
      locale: 'es-CL',
    });
    expect(new URL(link ?? '')).toMatchObject({
      pathname: '/oauth/password-reset/request',
      search: '',
      hash: '',
    });
    // What it leads to is there.
    expect((await bench.app.with().get(new URL(link ?? '').pathname)).status).toBe(200);
  });

  it('names no page to whom no password lets in', async () => {
    const { domain } = await sso.connection(provider.issuer, { enforced: true }, organization);
    const email = `${randomUUID()}@${domain}`;
    await bench.database.query('UPDATE users SET email = $2 WHERE id = $1', [person.id, email]);
    expect((await linkOf(person.id)).body).toMatchObject({ address: email, link: null });
  });

  it('says where a suspended user is written to: what is done to the account meanwhile is theirs to know', async () => {
    await bench.database.query(`UPDATE users SET status = 'suspended' WHERE id = $1`, [person.id]);
    expect((await linkOf(person.id)).body.address).toBe(person.email);
  });

  it.each([
    ['is written down only', `UPDATE users SET status = 'invited' WHERE id = $1`],
    ['is deleted', 'UPDATE users SET deleted_at = now() WHERE id = $1'],
  ])('404 not_found of who %s', async (_who, sql) => {
    await bench.database.query(sql, [person.id]);
    expectProblem(await linkOf(person.id), 404, 'not_found');
    expectProblem(await linkOf(randomUUID()), 404, 'not_found');
  });

  it('403 for any module but messaging', async () => {
    expect((await linkOf(person.id, 'core')).status).toBe(403);
  });
});
