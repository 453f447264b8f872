import { Injectable } from '@nestjs/common';
import { afterLocks, Clock, type WorkerTransaction } from '@customer-platform/database';
import type { RequestContext } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import type { SignedIn } from '../vocabulary/signed-in.js';

/** What a stolen session must not do alone takes a password or a factor given so lately (identity.md §5). */
export const FRESH_MS = 10 * 60_000;

/** Whoever came from a provider may have authenticated there long ago: when, it is that which says so. */
const AUTHENTICATED = `
SELECT greatest(CASE WHEN connection_id IS NULL THEN authenticated_at ELSE auth_time END, mfa_at) AS at FROM sessions
 WHERE organization_id = $1 AND id = $2 AND ended_at IS NULL`;

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

/** Whether a sign-in whose session is still to begin is one of the last ten minutes. */
export function isFresh({ authenticatedAt, authTime, connectionId }: SignedIn, now: Date): boolean {
  return isOfLately(connectionId === undefined ? authenticatedAt : authTime, now);
}

type Session = Pick<RequestContext, 'organizationId' | 'sessionId'>;

/** Tells what somebody may do to their own account by the session in which they call. */
@Injectable()
export class OwnSession {
  constructor(private readonly clock: Clock) {}

  /** @throws Problem `fresh_sign_in_required` where the user of the session has authenticated longer ago */
  async demandFresh(tx: WorkerTransaction, { organizationId, sessionId }: Session): Promise<void> {
    const asked = tx.query<{ at: Date | null }>(AUTHENTICATED, [organizationId, sessionId]);
    const [[session], now] = await afterLocks(this.clock, asked);
    if (isOfLately(session?.at ?? undefined, now)) return;
    throw new Problem('fresh_sign_in_required', { members: { max_age: FRESH_MS / 1_000 } });
  }

  /**
   * What is the user's in every organization is changed in no session of a tenant's client (ADR 105).
   * @param what the subject of the sentence that tells so
   * @throws Problem `user_not_managed`, `invalid_token` where the session has ended
   */
  async demandOwnClient(
    tx: WorkerTransaction,
    { organizationId, sessionId }: Session,
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
}

function isOfLately(at: Date | undefined, now: Date): boolean {
  return at !== undefined && now.getTime() - at.getTime() <= FRESH_MS;
}
