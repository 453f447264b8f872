import type { WorkerTransaction } from '@customer-platform/database';
import { domainOf } from '../vocabulary/domain-name.js';

const CONNECTION = `
SELECT c.organization_id, u.email
  FROM sso_connections c
  JOIN organizations o ON o.organization_id = c.organization_id AND o.deleted_at IS NULL AND o.status = 'active'
  JOIN users u ON u.id = $2
 WHERE c.id = $1 AND c.status = 'active' AND c.deleted_at IS NULL`;
/** Whoever switches it off, or takes a domain off it, waits for the session that is begun, and ends it too. */
const HELD_CONNECTION = `${CONNECTION} FOR SHARE OF c`;
/** By a statement of its own, which sees what was committed while the one before waited. */
const PROVEN = 'SELECT FROM sso_domains WHERE organization_id = $1 AND connection_id = $2 AND domain = $3';

/**
 * Whether an SSO connection still vouches for a user whom it has let in: it is active, and the user's address is of one
 * of its proven domains (identity.md §6). With `hold` that stays so until the transaction ends.
 */
export async function vouches(
  tx: WorkerTransaction,
  connectionId: string,
  userId: string,
  { hold }: { readonly hold: boolean },
): Promise<boolean> {
  const statement = hold ? HELD_CONNECTION : CONNECTION;
  const [row] = await tx.query<{ organization_id: string; email: string }>(statement, [connectionId, userId]);
  if (!row) return false;
  const values = [row.organization_id, connectionId, domainOf(row.email) ?? ''];
  return (await tx.query(PROVEN, values)).length > 0;
}
