import { PERMISSIONS } from '@customer-platform/permissions';
import type { Page } from '@customer-platform/http';
import { IdentityBench, type TestOrganization } from '../identity-app.fixture.js';
import type { PermissionDto } from './permission.dto.js';

describe('GET /v1/identity/permissions', () => {
  let bench: IdentityBench;
  let organization: TestOrganization;
  beforeAll(async () => {
    bench = await IdentityBench.start();
    organization = await bench.organization();
  });
  afterAll(() => bench.end());

  const list = async (query: string) =>
    (await organization.admin.get<Page<PermissionDto>>(`/v1/identity/permissions?${query}`)).body;

  it('walks the whole registry, in order, once', async () => {
    const walked: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const page: Page<PermissionDto> = await list(`limit=17${cursor ? `&cursor=${cursor}` : ''}`);
      walked.push(...page.data.map(({ permission }) => permission));
      cursor = page.page.next_cursor;
    }
    expect(walked).toEqual([...PERMISSIONS].sort());
  });

  it('tells the parts of a permission and what it lets its holder do', async () => {
    const { data } = await list('module=core&resource=events&action=write');
    expect(data).toEqual([
      {
        permission: 'core.events.write',
        module: 'core',
        resource: 'events',
        action: 'write',
        description: expect.any(String),
      },
    ]);
  });

  it('needs identity.permissions.read', async () => {
    const caller = await bench.caller(organization, ['core.events.read']);
    const { status, body } = await caller.get<{ code: string; permission: string }>(
      '/v1/identity/permissions',
    );
    expect([status, body.code, body.permission]).toEqual([
      403,
      'permission_denied',
      'identity.permissions.read',
    ]);
  });
});
