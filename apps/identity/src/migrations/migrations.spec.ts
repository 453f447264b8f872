import { join } from 'node:path';
import {
  expectEveryTableIsolated,
  expectMigrationsReversible,
  expectTenantTablesListed,
  testDatabase,
  type TestDatabase,
} from '@customer-platform/testing';
import { ORGANIZATION_IN_IDENTITY } from '../organizations/organization-references.js';
import { IDENTITY_TENANT_TABLES } from '../tenant-tables.fixture.js';
import { migrations } from './index.js';

describe('the schema of identity', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await testDatabase('identity', migrations);
  });
  afterAll(() => database.drop());

  it('goes up, down and up again', () => expectMigrationsReversible('identity', migrations));

  it('shows no row to another organization', () =>
    expectEveryTableIsolated(database, {
      exempt: [
        'organizations', // the tree itself: slugs are the platform's, and the row of a child is its ancestors' to read
        'signing_keys', // the service's own
        'built_in_permissions', // the registry of the build, the same for all
        'oauth_browser_states', // a browser’s, before anybody has chosen an organization
      ],
      expected: [
        // A user is one on the whole platform, by id and address, and keeps both when the home changes.
        'impersonations: impersonations_of_actor does not begin with organization_id',
        'impersonations: impersonations_of_user does not begin with organization_id',
        'memberships: memberships_of_user does not begin with organization_id',
        'mfa_factors: mfa_factors_of_user does not begin with organization_id',
        'mfa_failures: mfa_failures_of_user does not begin with organization_id',
        'password_resets: password_resets_of_user does not begin with organization_id',
        'recovery_codes: recovery_codes_of_user does not begin with organization_id',
        'sessions: sessions_of_user does not begin with organization_id',
        // A domain leads to one connection of the platform; a session elsewhere names the connection by its id.
        'sso_connections: sso_connections_id does not begin with organization_id',
        'sso_domains: sso_domains_one_connection does not begin with organization_id',
        'sso_links: sso_links_of_user does not begin with organization_id',
        // Read-only: whose member a user is sees the user.
        'users: the policy members lets rows of other organizations through',
        'users: users_email does not begin with organization_id',
        'users: users_id does not begin with organization_id',
      ],
    }));

  /** Its people are staff, who are no contacts: no erasure comes here, and no archive is made. */
  it('has every table on the lists, with every column', () =>
    expectTenantTablesListed(database, {
      tables: IDENTITY_TENANT_TABLES,
      sources: join(import.meta.dirname, '..'),
      ...ORGANIZATION_IN_IDENTITY,
      archived: [],
    }));

  it('lets an organization read its members wherever their home is, and write them nowhere', async () => {
    const policies = await database.query<{ polcmd: string; polqual: string }>(
      `SELECT polcmd, pg_get_expr(polqual, polrelid) AS polqual FROM pg_policy WHERE polname = 'members'`,
    );
    expect(policies).toEqual([{ polcmd: 'r', polqual: expect.stringContaining('memberships') as string }]);
  });

  it('keeps the tree of organizations behind row level security all the same', async () => {
    const rows = await database.query<{ relrowsecurity: boolean; relforcerowsecurity: boolean }>(
      `SELECT relrowsecurity, relforcerowsecurity FROM pg_class WHERE relname = 'organizations'`,
    );
    expect(rows).toEqual([{ relrowsecurity: true, relforcerowsecurity: true }]);
    const policies = await database.query<{ polname: string }>(
      `SELECT polname FROM pg_policy WHERE polrelid = 'organizations'::regclass ORDER BY 1`,
    );
    expect(policies.map(({ polname }) => polname)).toEqual(['own_organization', 'reach', 'worker']);
  });
});
