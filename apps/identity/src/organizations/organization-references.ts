import type { ReferenceCount, WorkerTransaction } from '@customer-platform/database';
import { KEY_WORKS } from '../roles/role-grants.js';

/** What an organization may hold beyond its built-in roles, and of keys those that work; each of it keeps the organization from being purged. */
const HELD: Readonly<Record<string, string>> = {
  organizations: 'SELECT count(*)::int AS count FROM organizations WHERE parent_id = $1',
  roles: 'SELECT count(*)::int AS count FROM roles WHERE organization_id = $1 AND key IS NULL',
  memberships: 'SELECT count(*)::int AS count FROM memberships WHERE organization_id = $1',
  users: 'SELECT count(*)::int AS count FROM users WHERE organization_id = $1',
  api_keys: `SELECT count(*)::int AS count FROM api_keys WHERE organization_id = $1 AND ${KEY_WORKS}`,
  oauth_clients: 'SELECT count(*)::int AS count FROM oauth_clients WHERE organization_id = $1',
  sso_connections: 'SELECT count(*)::int AS count FROM sso_connections WHERE organization_id = $1',
};

/** The tables of what only a purged organization's rows are left of it, in an order that their keys allow. */
const LEFT = [
  'invitations',
  'impersonations',
  'sessions',
  'sso_links',
  'sso_requests',
  'address_probes',
  'tenant_tallies',
  'password_attempts',
  'sign_ins',
  'api_keys',
  'role_permissions',
  'roles',
  'organization_epochs',
] as const;

/** As tests hold them against the tables of the database. */
export const ORGANIZATION_IN_IDENTITY = { counted: Object.keys(HELD), gone: LEFT } as const;

/**
 * Counts what an organization, whose lock `tx` holds, still has in identity; where that is nothing, removes what is
 * built in, which the transaction takes back if other modules have something.
 */
export async function organizationReferences(tx: WorkerTransaction, id: string): Promise<ReferenceCount[]> {
  await tx.useOrganization(id);
  const references: ReferenceCount[] = [];
  for (const [resource, statement] of Object.entries(HELD)) {
    const [row] = await tx.query<{ count: number }>(statement, [id]);
    if (row && row.count > 0) references.push({ module: 'identity', resource, count: row.count });
  }
  if (references.length > 0) return references;
  for (const table of LEFT) await tx.query(`DELETE FROM ${table} WHERE organization_id = $1`, [id]);
  return [];
}
