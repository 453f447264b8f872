import { afterLocks, type Clock, type WorkerTransaction } from '@customer-platform/database';
import type { RequestContext } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import type { SignedIn } from './signed-in.js';

/** What a stolen session must not do alone takes a password or a factor given so lately (identity.md §5). */
export const FRESH_MS = 10 * 60_000;

/** Whoever came from a provider may have authenticated there long ago: when, it is that which says so. */
const AUTHENTICATED = `
SELECT greatest(CASE WHEN connection_id IS NULL THEN authenticated_at ELSE auth_time END, mfa_at) AS at FROM sessions
 WHERE organization_id = $1 AND id = $2 AND ended_at IS NULL`;

/** Whether a sign-in whose session is still to begin is one of the last ten minutes. */
export function isFresh({ authenticatedAt, authTime, connectionId }: SignedIn, now: Date): boolean {
  return isOfLately(connectionId === undefined ? authenticatedAt : authTime, now);
}

/** @throws Problem `fresh_sign_in_required` where the user of the session has authenticated longer ago */
export async function demandFreshSignIn(
  tx: WorkerTransaction,
  { organizationId, sessionId }: Pick<RequestContext, 'organizationId' | 'sessionId'>,
  clock: Clock,
): Promise<void> {
  const asked = tx.query<{ at: Date | null }>(AUTHENTICATED, [organizationId, sessionId]);
  const [[session], now] = await afterLocks(clock, asked);
  if (isOfLately(session?.at ?? undefined, now)) return;
  throw new Problem('fresh_sign_in_required', { members: { max_age: FRESH_MS / 1_000 } });
}

function isOfLately(at: Date | undefined, now: Date): boolean {
  return at !== undefined && now.getTime() - at.getTime() <= FRESH_MS;
}
