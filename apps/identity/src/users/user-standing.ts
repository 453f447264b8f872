import type { WorkerTransaction } from '@customer-platform/database';
import type { RequestContext } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';

const SEEN = `
SELECT u.organization_id AS home,
       EXISTS (SELECT FROM memberships m WHERE m.user_id = u.id AND m.organization_id <> $1) AS elsewhere
  FROM users u
 WHERE u.id = $2
   AND (u.organization_id = $1
        OR EXISTS (SELECT FROM memberships m WHERE m.user_id = u.id AND m.organization_id = $1))`;

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
