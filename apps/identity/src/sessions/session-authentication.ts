import { Injectable } from '@nestjs/common';
import type { WorkerTransaction } from '@customer-platform/database';
import { domainOf } from '../vocabulary/domain-name.js';

/** Who has authenticated, and by which SSO connection; without one the platform did. */
export interface CameIn {
  readonly userId: string;
  readonly connectionId?: string | undefined;
}

/** The organizations that a way in leads to. */
export interface WayIn {
  /** That organization alone, and those which let its connections in; null: no connection has a part in it. */
  readonly only: string | null;
  /** Any but this one, which demands its own connection; null: none does. */
  readonly closed: string | null;
}

const CONNECTION = 'SELECT organization_id FROM sso_connections WHERE id = $1';
const ACTIVE_CONNECTION = `
SELECT c.organization_id, u.email
  FROM sso_connections c
  JOIN organizations o ON o.organization_id = c.organization_id AND o.deleted_at IS NULL AND o.status = 'active'
  JOIN users u ON u.id = $2
 WHERE c.id = $1 AND c.status = 'active' AND c.deleted_at IS NULL`;
/** Whoever switches it off, or takes a domain off it, waits for the session that is begun, and ends it too. */
const HELD_CONNECTION = `${ACTIVE_CONNECTION} FOR SHARE OF c`;
/** By a statement of its own, which sees what was committed while the one before waited. */
const PROVEN = 'SELECT FROM sso_domains WHERE organization_id = $1 AND connection_id = $2 AND domain = $3';
const EMAIL = 'SELECT email FROM users WHERE id = $1';
/**
 * An `owner` with a second factor has a way in where the provider has none. It is one of before, or was confirmed by whom
 * the connection has let in: else whoever has the password alone sets one up in another organization, or here while it
 * is off for a moment. What the release before has enforced is so from its making, as far as is known.
 */
const ENFORCING = `
SELECT c.organization_id
  FROM sso_domains d
  JOIN sso_connections c ON c.organization_id = d.organization_id AND c.id = d.connection_id
   AND c.status = 'active' AND c.deleted_at IS NULL AND c.enforced
  JOIN organizations o ON o.organization_id = c.organization_id AND o.deleted_at IS NULL AND o.status = 'active'
 WHERE d.domain = $1
   AND NOT (EXISTS (SELECT FROM mfa_factors f
                     WHERE f.user_id = $2
                       AND (f.confirmed_at <= coalesce(c.enforced_at, c.created_at)
                            OR f.confirmed_at IS NOT NULL AND f.connection_id = c.id))
     AND EXISTS (
       SELECT FROM memberships m
         JOIN role_assignments a ON a.organization_id = m.organization_id AND a.membership_id = m.id
         JOIN roles r ON r.organization_id = a.organization_id AND r.id = a.role_id AND r.key = 'owner'
        WHERE m.organization_id = c.organization_id AND m.user_id = $2))`;

/** SQL: whether the organization `o` lets connections of the one in `organization` in. */
const letsIn = (organization: string): string =>
  `(o.organization_id = ${organization} OR coalesce(o.settings -> 'sso_organizations', '[]') ? ${organization}::text)`;

/**
 * SQL: whether a way in leads to the organization `o`, by the parameters that hold its `only` and its `closed`. A
 * connection is edited by one organization: with the say of whom it is, it could act in every other as its people.
 */
export function leadsTo(only: string, closed: string): string {
  return `(${only}::uuid IS NULL OR ${letsIn(`${only}::uuid`)})
   AND (${closed}::uuid IS NULL OR o.organization_id <> ${closed}::uuid)`;
}

/** SQL: whether the session `s` may go on in the organization `o`, which may have ceased to let its connection in. */
export const GOES_ON = `(s.connection_id IS NULL
   OR EXISTS (SELECT FROM sso_connections k WHERE k.id = s.connection_id AND ${letsIn('k.organization_id')}))`;

/** Organizations of the user's in which those of whom a connection is have no say. */
const BEYOND = `
SELECT FROM memberships m
  JOIN organizations o ON o.organization_id = m.organization_id AND o.status = 'active' AND o.deleted_at IS NULL
 WHERE m.user_id = $1 AND NOT ${letsIn('$2::uuid')} LIMIT 1`;

const LEADS = `
SELECT FROM organizations o WHERE o.organization_id = $1 AND ${leadsTo('$2', '$3')} FOR SHARE`;

/** Tells where somebody may act by how they have authenticated. */
@Injectable()
export class SessionAuthentication {
  /** Tells where somebody may act, as far as that depends on how they came in. */
  async wayOf(tx: WorkerTransaction, { userId, connectionId }: CameIn): Promise<WayIn> {
    const only = await this.connectionOf(tx, { connectionId });
    if (only !== null) return { only, closed: null };
    const [user] = await tx.query<{ email: string }>(EMAIL, [userId]);
    return {
      only: null,
      closed: user === undefined ? null : await this.closedToPassword(tx, userId, user.email),
    };
  }

  /** Tells whose connection somebody came in by; null where none has a part in it. */
  async connectionOf(
    tx: WorkerTransaction,
    { connectionId }: Pick<CameIn, 'connectionId'>,
  ): Promise<string | null> {
    if (connectionId === undefined) return null;
    const [connection] = await tx.query<{ organization_id: string }>(CONNECTION, [connectionId]);
    // Of one that is gone, nobody's: its id is no organization's.
    return connection?.organization_id ?? connectionId;
  }

  /**
   * Tells whether they may change what is theirs in all organizations: not by a connection, where they are in one to which
   * it does not lead. Whoever edits it would be at work there as well.
   */
  async reachesAll(tx: WorkerTransaction, cameIn: CameIn): Promise<boolean> {
    const only = await this.connectionOf(tx, cameIn);
    return only === null || (await tx.query(BEYOND, [cameIn.userId, only])).length === 0;
  }

  /** The organization in which people with the address act by its connection alone; null where there is none. */
  async closedToPassword(tx: WorkerTransaction, userId: string, email: string): Promise<string | null> {
    const domain = domainOf(email);
    if (domain === undefined) return null;
    const [enforcing] = await tx.query<{ organization_id: string }>(ENFORCING, [domain, userId]);
    return enforcing?.organization_id ?? null;
  }

  /** Tells whether they may act in the organization; so it stays until the transaction ends. */
  async leads(tx: WorkerTransaction, cameIn: CameIn, organizationId: string): Promise<boolean> {
    const { only, closed } = await this.wayOf(tx, cameIn);
    return (await tx.query(LEADS, [organizationId, only, closed])).length > 0;
  }

  /**
   * Tells whether an SSO connection still vouches for a user whom it has let in: it is active, and the user's address is of one
   * of its proven domains (identity.md §6). With `hold` that stays so until the transaction ends.
   */
  async vouches(
    tx: WorkerTransaction,
    connectionId: string,
    userId: string,
    { hold }: { readonly hold: boolean },
  ): Promise<boolean> {
    const statement = hold ? HELD_CONNECTION : ACTIVE_CONNECTION;
    const [row] = await tx.query<{ organization_id: string; email: string }>(statement, [
      connectionId,
      userId,
    ]);
    if (!row) return false;
    const values = [row.organization_id, connectionId, domainOf(row.email) ?? ''];
    return (await tx.query(PROVEN, values)).length > 0;
  }
}
