import type { WorkerTransaction } from '@customer-platform/database';
import type { RequestContext } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';

/** Whose application has the session: the platform's own (none, or a client of the root), or a tenant's. */
const STANDING = `
SELECT s.mfa_at, s.connection_id,
       s.client_id IS NULL OR EXISTS (
         SELECT FROM oauth_clients c JOIN organizations o ON o.organization_id = c.organization_id
          WHERE c.id = s.client_id AND o.parent_id IS NULL) AS of_platform
  FROM sessions s WHERE s.organization_id = $1 AND s.id = $2 AND s.ended_at IS NULL`;

/** A user in a session, as whatever concerns one's own account needs one. */
export interface Self {
  readonly userId: string;
  readonly sessionId: string;
}

/** The state of a session and its user, as a call found it. */
export interface Standing {
  readonly mfa_at: Date | null;
  readonly connection_id: string | null;
}

/** The calling user. @throws Problem `user_required` */
export function selfOf({ principal, sessionId }: RequestContext): Self {
  if (principal.type !== 'user' || sessionId === undefined) throw new Problem('user_required');
  return { userId: principal.id, sessionId };
}

/**
 * What is the user's in every organization is changed in no session of a tenant's client (ADR 105).
 * @param what the subject of the sentence that tells so
 * @throws Problem `user_not_managed`, `invalid_token` where the session has ended
 */
export async function demandOwnClient(
  tx: WorkerTransaction,
  { organizationId, sessionId }: Pick<RequestContext, 'organizationId' | 'sessionId'>,
  what: string,
): Promise<Standing> {
  const [standing] = await tx.query<Standing & { readonly of_platform: boolean }>(STANDING, [
    organizationId,
    sessionId,
  ]);
  if (!standing) throw new Problem('invalid_token');
  if (standing.of_platform) return standing;
  throw new Problem('user_not_managed', {
    detail: `${what} in all organizations: sign in to the platform itself to change it.`,
  });
}
