import type { Transaction, WorkerTransaction } from '@customer-platform/database';
import type { RequestContext } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';

const SEEN = `
SELECT u.organization_id AS home,
       EXISTS (SELECT FROM memberships m WHERE m.user_id = u.id AND m.organization_id <> $1) AS elsewhere
  FROM users u
 WHERE u.id = $2
   AND (u.organization_id = $1
        OR EXISTS (SELECT FROM memberships m WHERE m.user_id = u.id AND m.organization_id = $1))`;

const PERMISSIONS_OF = `
SELECT DISTINCT coalesce(b.permission, p.permission) AS permission
  FROM memberships m
  JOIN role_assignments a ON a.organization_id = m.organization_id AND a.membership_id = m.id
  JOIN roles r ON r.organization_id = a.organization_id AND r.id = a.role_id AND r.deleted_at IS NULL
  LEFT JOIN built_in_permissions b ON b.key = r.key AND b.kind = r.kind
  LEFT JOIN role_permissions p
    ON r.key IS NULL AND p.organization_id = r.organization_id AND p.role_id = r.id AND p.removed_at IS NULL
 WHERE m.organization_id = $1 AND m.user_id = $2 AND coalesce(b.permission, p.permission) IS NOT NULL`;

/**
 * Locks a user that the caller is about to change: the home may, while the user is a member nowhere else.
 * @throws Problem `not_found` for a user the caller's organization does not see, `user_not_managed`
 */
export async function lockManaged(tx: WorkerTransaction, context: RequestContext, id: string): Promise<void> {
  await tx.useOrganization(context.organizationId);
  // Looked at again under the lock: a statement that has waited for one sees memberships as they were before it waited.
  await tx.query(`${SEEN} FOR UPDATE OF u`, [context.organizationId, id]);
  const [row] = await tx.query<{ home: string; elsewhere: boolean }>(SEEN, [context.organizationId, id]);
  if (!row) throw new Problem('not_found');
  if (row.home === context.organizationId && !row.elsewhere) return;
  throw new Problem('user_not_managed', {
    detail: 'The user belongs to another organization, or is a member of another too.',
  });
}

/** What a user may do in an organization by all roles assigned. */
export async function permissionsOfUser(tx: Transaction, userId: string): Promise<string[]> {
  const rows = await tx.query<{ permission: string }>(PERMISSIONS_OF, [tx.organizationId, userId]);
  return rows.map(({ permission }) => permission);
}
