import { expectProblem, expectStatus } from '@customer-platform/testing';
import { IdentityBench, type TestOrganization } from '../identity-app.fixture.js';
import type { CreatedOrganizationDto } from './organization.dto.js';
import { OrganizationPeers, PEERS } from './organization-peers.fixture.js';

const ORGANIZATIONS = '/v1/identity/organizations';
/** What an organization is gone from. */
const TABLES = ['roles', 'role_permissions', 'organization_epochs', 'organizations'];

let peers: OrganizationPeers;
let bench: IdentityBench;
let parent: TestOrganization;
let number = 0;
beforeAll(async () => {
  peers = await OrganizationPeers.start();
  bench = await IdentityBench.start(peers.env);
  parent = await bench.organization();
});
afterAll(async () => {
  await bench.end();
  await peers.close();
});

async function found(override: object = {}): Promise<string> {
  number += 1;
  const body = { name: `Child ${String(number)}`, slug: `child-${String(number)}`, ...override };
  const answer = await parent.admin.post<CreatedOrganizationDto>(ORGANIZATIONS, body);
  expectStatus(answer, 201);
  return answer.body.id;
}

async function deleted(override: object = {}): Promise<string> {
  const id = await found(override);
  expectStatus(await parent.admin.delete(`${ORGANIZATIONS}/${id}`), 204);
  return id;
}

const purge = (id: string) => parent.admin.delete(`${ORGANIZATIONS}/${id}/purge`);

/** How many rows each table has of it. */
async function rowsOf(id: string): Promise<number[]> {
  const rows = TABLES.map((table) =>
    bench.database.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM ${table} WHERE organization_id = $1`,
      [id],
    ),
  );
  return (await Promise.all(rows)).map(([row]) => row?.count ?? 0);
}

/** What the modules were asked, of this organization. */
function asked(id: string, route: string): object[] {
  return PEERS.flatMap((peer) => peers.of[peer].calls)
    .filter((call) => call.route === route)
    .map(({ body }) => body as { organization_id: string })
    .filter(({ organization_id: of }) => of === id);
}

describe('DELETE /v1/identity/organizations/{id}/purge', () => {
  it('409 before it is deleted; then 204, after all modules said, within it, that they have nothing of it', async () => {
    const id = await found();
    expectProblem(await purge(id), 409, 'not_soft_deleted');
    expect(asked(id, 'POST /internal/references')).toEqual([]);
    expectStatus(await parent.admin.delete(`${ORGANIZATIONS}/${id}`), 204);
    expectStatus(await purge(id), 204);
    const question = expect.objectContaining({ organization_id: id, resource: 'identity.organizations', id });
    expect(asked(id, 'POST /internal/references')).toEqual(PEERS.map(() => question));
    expect(await rowsOf(id)).toEqual([0, 0, 0, 0]);
    expectProblem(await parent.admin.get(`${ORGANIZATIONS}/${id}`), 404, 'not_found');
  });

  it('409 with what identity and all others have of it; nothing is removed, no hold is left', async () => {
    const id = await deleted({ issue_api_key: true });
    const before = await rowsOf(id);
    peers.count('core', id, 'contacts', 3);
    peers.count('loyalty', id, 'transactions', 7);
    peers.count('messaging', id, 'sends', 0);
    const problem = expectProblem(await purge(id), 409, 'resource_referenced');
    expect(problem['references']).toEqual([
      { module: 'identity', resource: 'api_keys', count: 1 },
      { module: 'core', resource: 'contacts', count: 3 },
      { module: 'loyalty', resource: 'transactions', count: 7 },
    ]);
    expect(await rowsOf(id)).toEqual(before);
    expect(asked(id, 'POST /internal/references/release')).toHaveLength(PEERS.length);
  });

  it('204 though it had keys that work no more; 409 while one does', async () => {
    const id = await deleted({ issue_api_key: true });
    const end = (set: string) =>
      bench.database.query(`UPDATE api_keys SET ${set} WHERE organization_id = $1`, [id]);
    expectProblem(await purge(id), 409, 'resource_referenced');
    await end(`expires_at = now() - interval '1 second'`);
    peers.count('core', id, 'contacts', 1);
    expectProblem(await purge(id), 409, 'resource_referenced');
    peers.count('core', id, 'contacts', 0);
    await end('expires_at = NULL, revoked_at = now()');
    expectStatus(await purge(id), 204);
    expect(await rowsOf(id)).toEqual([0, 0, 0, 0]);
  });

  it.each(PEERS)('409 for what %s alone has: what is built in stays', async (peer) => {
    const id = await deleted();
    const before = await rowsOf(id);
    peers.count(peer, id, 'things', 1);
    const problem = expectProblem(await purge(id), 409, 'resource_referenced');
    expect(problem['references']).toEqual([{ module: peer, resource: 'things', count: 1 }]);
    expect(await rowsOf(id)).toEqual(before);
    expectStatus(await parent.admin.post(`${ORGANIZATIONS}/${id}/restore`), 200);
  });

  it.each(PEERS)('503 while %s is silent: nothing is removed; 204 when it answers', async (peer) => {
    const id = await deleted();
    const before = await rowsOf(id);
    peers.of[peer].outage(true);
    try {
      expectProblem(await purge(id), 503, 'dependency_unavailable');
    } finally {
      peers.of[peer].outage(false);
    }
    expect(await rowsOf(id)).toEqual(before);
    expectStatus(await purge(id), 204);
    expect(await rowsOf(id)).toEqual([0, 0, 0, 0]);
  });

  it('purged by two at once is purged once', async () => {
    const id = await deleted();
    const answers = await Promise.all([purge(id), purge(id)]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([204, 404]);
  });
});
