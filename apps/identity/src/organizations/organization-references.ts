import type { ReferenceCount, WorkerTransaction } from '@customer-platform/database';

/** What an organization may hold beyond its built-in roles; each of it keeps the organization from being purged. */
const HELD: Readonly<Record<string, string>> = {
  organizations: 'SELECT count(*)::int AS count FROM organizations WHERE parent_id = $1',
  roles: 'SELECT count(*)::int AS count FROM roles WHERE organization_id = $1 AND key IS NULL',
  memberships: 'SELECT count(*)::int AS count FROM memberships WHERE organization_id = $1',
  users: 'SELECT count(*)::int AS count FROM users WHERE organization_id = $1',
  api_keys: 'SELECT count(*)::int AS count FROM api_keys WHERE organization_id = $1',
  oauth_clients: 'SELECT count(*)::int AS count FROM oauth_clients WHERE organization_id = $1',
  sso_connections: 'SELECT count(*)::int AS count FROM sso_connections WHERE organization_id = $1',
};

/** What only a purged organization's rows are left of it. */
const FORGET = [
  'DELETE FROM invitations WHERE organization_id = $1',
  'DELETE FROM impersonations WHERE organization_id = $1',
  'DELETE FROM sessions WHERE organization_id = $1',
  'DELETE FROM sso_links WHERE organization_id = $1',
  'DELETE FROM sso_requests WHERE organization_id = $1',
  'DELETE FROM address_probes WHERE organization_id = $1',
  'DELETE FROM password_attempts WHERE organization_id = $1',
  'DELETE FROM sign_ins WHERE organization_id = $1',
  'DELETE FROM role_permissions WHERE organization_id = $1',
  'DELETE FROM roles WHERE organization_id = $1',
  'DELETE FROM organization_epochs WHERE organization_id = $1',
];

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
  for (const statement of FORGET) await tx.query(statement, [id]);
  return [];
}
