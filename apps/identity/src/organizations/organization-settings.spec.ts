import { randomUUID } from 'node:crypto';
import { PERMISSIONS } from '@customer-platform/permissions';
import { Caller, eventually, expectProblem, expectStatus } from '@customer-platform/testing';
import { IdentityBench, type TestOrganization } from '../identity-app.fixture.js';
import { aMemberKey } from '../roles/ways-to-give.fixture.js';
import type { CreatedOrganizationDto, OrganizationDto } from './organization.dto.js';

const ORGANIZATIONS = '/v1/identity/organizations';

let bench: IdentityBench;
let parent: TestOrganization;
beforeAll(async () => {
  bench = await IdentityBench.start();
});
afterAll(() => bench.end());
beforeEach(async () => {
  parent = await bench.organization();
});

const aBody = (override: object = {}): object => ({
  name: 'Child',
  slug: `child-${randomUUID()}`,
  ...override,
});
const at = (id: string): string => `${ORGANIZATIONS}/${id}`;

async function found(caller: Caller, override: object = {}): Promise<CreatedOrganizationDto> {
  const answer = await caller.post<CreatedOrganizationDto>(ORGANIZATIONS, aBody(override));
  expectStatus(answer, 201);
  return answer.body;
}

/** A child with a key that may do everything in it, which is known. */
async function withKey(
  caller: Caller,
  override: object = {},
): Promise<{ child: CreatedOrganizationDto; admin: Caller }> {
  const child = await found(caller, { issue_api_key: true, ...override });
  const admin = new Caller(bench.app.url, child.api_key?.key ?? '');
  await eventually(async () => expect((await admin.get(at(child.id))).status).toBe(200));
  return { child, admin };
}

describe('settings.member_jwks', () => {
  const given = { settings: { member_jwks: { keys: [aMemberKey()] } } };
  const missing = ['core.members.exchange'];
  const jwksOf = async (caller: Caller, id: string) =>
    (await caller.get<OrganizationDto>(at(id))).body.settings.member_jwks;

  it('is not an ancestor’s to set, nor the founder’s: 403, and nothing is founded or changed', async () => {
    const body = aBody(given);
    const refused = expectProblem(await parent.admin.post(ORGANIZATIONS, body), 403, 'privilege_escalation');
    expect(refused['missing']).toEqual(missing);
    const { child, admin } = await withKey(parent.admin);
    const grandchild = await found(admin);
    for (const [caller, id] of [
      [parent.admin, child.id],
      [parent.admin, grandchild.id.toUpperCase()],
      [admin, grandchild.id],
    ] as const) {
      for (const settings of [given.settings, { member_jwks: null }, { member_jwks: { keys: [] } }]) {
        const problem = expectProblem(await caller.patch(at(id), { settings }), 403, 'privilege_escalation');
        expect(problem['missing']).toEqual(missing);
      }
      expect(await jwksOf(caller, id)).toEqual({ keys: [] });
    }
    expectStatus(await admin.patch(at(child.id), given), 200);
    expect(await jwksOf(parent.admin, child.id)).toEqual(given.settings.member_jwks);
    // A stranger's id is nobody's, whatever the body says.
    const other = await bench.organization();
    expectProblem(await other.admin.patch(at(child.id), given), 404, 'not_found');
  });

  it('is set by who may exchange tokens: 403 for a key that may all but that', async () => {
    const lacking = PERMISSIONS.filter((permission) => permission !== 'core.members.exchange');
    const caller = await bench.caller(parent, lacking);
    for (const settings of [given.settings, { member_jwks: null }]) {
      const problem = expectProblem(
        await caller.patch(at(parent.id), { settings }),
        403,
        'privilege_escalation',
      );
      expect(problem['missing']).toEqual(missing);
    }
    const able = await bench.caller(parent, ['identity.organizations.update', 'core.members.exchange']);
    expectStatus(await able.patch(at(parent.id), given), 200);
  });
});
