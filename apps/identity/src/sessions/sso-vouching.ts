import type { WorkerTransaction } from '@customer-platform/database';
import { domainOf } from '../domain-name.js';

const CONNECTION = `
SELECT c.domains, u.email
  FROM sso_connections c
  JOIN organizations o ON o.organization_id = c.organization_id AND o.deleted_at IS NULL AND o.status = 'active'
  JOIN users u ON u.id = $2
 WHERE c.id = $1 AND c.status = 'active' AND c.deleted_at IS NULL`;
/** Whoever switches it off, or takes a domain off it, waits for the session that is begun, and ends it too. */
const HELD_CONNECTION = `${CONNECTION} FOR SHARE OF c`;

/**
 * Whether an SSO connection still vouches for a user whom it has let in: it is active, and the user's address is of one
 * of its domains (identity.md §6). With `hold` that stays so until the transaction ends.
 */
export async function vouches(
  tx: WorkerTransaction,
  connectionId: string,
  userId: string,
  { hold }: { readonly hold: boolean },
): Promise<boolean> {
  const statement = hold ? HELD_CONNECTION : CONNECTION;
  const [row] = await tx.query<{ domains: string[]; email: string }>(statement, [connectionId, userId]);
  return row?.domains.includes(domainOf(row.email) ?? '') === true;
}
