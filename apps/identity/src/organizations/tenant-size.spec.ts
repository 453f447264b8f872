import { randomUUID } from 'node:crypto';
import { expectProblem, expectStatus } from '@customer-platform/testing';
import { IdentityBench } from '../identity-app.fixture.js';
import type { OrganizationDto } from './organization.dto.js';

const ORGANIZATIONS = '/v1/identity/organizations';
const MOST = 10_000;

let bench: IdentityBench;
beforeAll(async () => {
  bench = await IdentityBench.start();
});
afterAll(() => bench.end());

const aBody = (): object => ({ name: 'Child', slug: `child-${randomUUID()}` });

it('409 limit_reached where a tenant has ten thousand organizations on all levels, also of two at once, and not of its neighbour', async () => {
  const [tenant, neighbour] = [await bench.organization(), await bench.organization()];
  await bench.within(tenant.id, (tx) =>
    tx.query(
      `WITH child AS (
         INSERT INTO organizations (organization_id, id, parent_id, path, name, slug, locale, timezone, created_at, updated_at)
         SELECT c.id, c.id, $1, p.path || c.id, 'Child', 'child-' || c.id, 'en', 'UTC', now(), now()
           FROM (SELECT gen_random_uuid() AS id FROM generate_series(1, 10)) AS c
           JOIN organizations p ON p.organization_id = $1
         RETURNING id, path)
       INSERT INTO organizations (organization_id, id, parent_id, path, name, slug, locale, timezone, created_at, updated_at)
       SELECT c.id, c.id, c.parent_id, c.path || c.id, 'Grandchild', 'grandchild-' || c.id, 'en', 'UTC', now(), now()
         FROM (SELECT gen_random_uuid() AS id, child.id AS parent_id, child.path FROM child, generate_series(1, $2::int)) AS c`,
      [tenant.id, (MOST - 20) / 10],
    ),
  );
  const answers = await Promise.all(
    Array.from({ length: 12 }, () => tenant.admin.post<OrganizationDto>(ORGANIZATIONS, aBody())),
  );
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(10);
  const refused = answers.find(({ status }) => status !== 201);
  if (!refused) throw new Error('Two are refused');
  expect(expectProblem(refused, 409, 'limit_reached')['limit']).toBe(MOST);
  expectStatus(await neighbour.admin.post(ORGANIZATIONS, aBody()), 201);
});
