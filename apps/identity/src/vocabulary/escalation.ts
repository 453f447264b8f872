import type { RequestContext } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import { isPermission } from '@customer-platform/permissions';

/**
 * The one place that decides whether a caller may give permissions to somebody or something (identity.md §1): by role,
 * key, rotation, assignment, invitation, restore, reactivation. Nobody gives what they do not hold. Taking away needs no leave.
 * @throws Problem `privilege_escalation` with `missing`
 */
export function demandHeld(context: RequestContext, permissions: readonly string[]): void {
  const missing = permissions.filter((permission) => !isPermission(permission) || !context.can(permission));
  if (missing.length === 0) return;
  throw new Problem('privilege_escalation', {
    detail: `The caller lacks ${String(missing.length)} of the permissions that the call would give.`,
    members: { missing: [...missing].sort() },
  });
}
