import { Injectable } from '@nestjs/common';
import { systemActor } from '@customer-platform/audit';
import { Clock, Database, type WorkerTransaction } from '@customer-platform/database';
import { currentCorrelationId } from '@customer-platform/http';
import type { AdapterPayload } from 'oidc-provider';
import type { EndedReason } from '../sessions/session.dto.js';
import { SessionBeginnings, type Authentication } from '../sessions/session-beginnings.js';
import { SessionEndings } from '../sessions/session-endings.js';
import type { TokenSession } from '../sessions/access-token.issuing.js';
import { GOES_ON, SessionAuthentication } from '../sessions/session-authentication.js';
import { epochSeconds } from './epoch-seconds.js';
import { fromGrantId, toGrantId, type GrantOf } from './grant-id.js';

/** A session goes on while neither it nor anything that it stands on has ended. $2 the session, $3 now. */
const LIVE = `
  FROM oauth_grants g
  JOIN sessions s ON s.organization_id = g.organization_id AND s.id = g.session_id
  JOIN users u ON u.id = s.user_id AND u.status = 'active' AND u.deleted_at IS NULL
  JOIN memberships m ON m.organization_id = s.organization_id AND m.user_id = s.user_id
  JOIN organizations o ON o.organization_id = s.organization_id AND o.deleted_at IS NULL
  JOIN oauth_clients c ON c.id = s.client_id AND c.generation = s.client_generation AND c.deleted_at IS NULL
   AND (c.organizations = 'tree' OR c.organization_id = s.organization_id)
 WHERE ${GOES_ON} AND g.organization_id = $1 AND g.session_id = $2
   AND s.ended_at IS NULL AND least(s.expires_at, s.idle_expires_at) > $3`;

const FIND = `
SELECT g.payload, s.user_id, s.client_id, s.expires_at, s.api_scopes, o.slug ${LIVE}`;

const INSERT = `
INSERT INTO oauth_grants (organization_id, session_id, client_id, browser, payload, created_at)
VALUES ($1, $2, $3, $4, '{}', $5)`;

const UPDATE = `
UPDATE oauth_grants SET payload = $3 WHERE organization_id = $1 AND session_id = $2`;

/**
 * Use is the issue of a token (identity.md §5). Who has been found good at the beginning of the request is given the
 * token: where a copy of a refresh token ends the session meanwhile, what the winner is given is dead.
 */
const USE = `
UPDATE sessions s
   SET last_seen_at = $3,
       idle_expires_at = least(s.expires_at,
         $3::timestamptz + make_interval(mins => coalesce((o.settings #>> '{session,idle_minutes}')::int, $4)))
  FROM organizations o
 WHERE s.organization_id = $1 AND s.id = $2 AND o.organization_id = s.organization_id
   AND (s.ended_at IS NULL OR s.ended_reason = 'token_reuse')
RETURNING s.user_id, s.client_id, coalesce(s.auth_time, s.authenticated_at) AS authenticated_at, s.amr, s.api_scopes`;

const LOOK = `
SELECT user_id, client_id, coalesce(auth_time, authenticated_at) AS authenticated_at, amr, api_scopes FROM sessions
 WHERE organization_id = $1 AND id = $2 AND (ended_at IS NULL OR ended_reason = 'token_reuse')`;

const OWNER = 'SELECT user_id FROM sessions WHERE organization_id = $1 AND id = $2';

const OF_BROWSER = `
SELECT s.organization_id, s.id FROM oauth_grants g
  JOIN sessions s ON s.organization_id = g.organization_id AND s.id = g.session_id
 WHERE g.browser = $1 AND s.ended_at IS NULL`;

/** What has begun in a browser for whoever signed in there at that second. */
const BY_SIGN_IN = `coalesce(s.auth_time, s.authenticated_at) >= $3
   AND coalesce(s.auth_time, s.authenticated_at) < $3::timestamptz + interval '1 second'`;

/**
 * A browser is trusted for as long as something that began in it goes on, something has begun by the sign-in in question,
 * and nothing was ended there since but by the user's own signing out. Where a factor was set up or taken away, what goes
 * on by that sign-in with a second factor is what it was done in.
 */
const TRUSTED = `
WITH seen AS (
  SELECT s.ended_at, s.ended_reason, s.authenticated_at, ${BY_SIGN_IN} AS by_sign_in, 'mfa' = ANY (s.amr) AS has_factor,
         s.ended_at IS NULL AND least(s.expires_at, s.idle_expires_at) > $4 AS live
    FROM oauth_grants g
    JOIN sessions s ON s.organization_id = g.organization_id AND s.id = g.session_id
   WHERE g.browser = $1 AND s.user_id = $2
), arrived AS (SELECT max(authenticated_at) AS at FROM seen WHERE by_sign_in)
SELECT coalesce(bool_or(live) AND bool_or(by_sign_in), false)
   AND NOT coalesce(bool_or(ended_at >= at AND ended_reason NOT IN ('logout', 'idle', 'absolute', 'mfa_changed')), false)
   AND (coalesce(bool_or(live AND by_sign_in AND has_factor), false)
        OR NOT coalesce(bool_or(ended_at >= at AND ended_reason = 'mfa_changed'), false)) AS trusted
  FROM seen, arrived`;

/** The session that a sign-in has begun in a browser for a client, in the organization with that id or slug. */
const BEGUN = `
SELECT s.organization_id, s.id FROM oauth_grants g
  JOIN sessions s ON s.organization_id = g.organization_id AND s.id = g.session_id
  JOIN organizations o ON o.organization_id = s.organization_id
 WHERE g.browser = $1 AND s.user_id = $2 AND ${BY_SIGN_IN} AND s.client_id = $4 AND s.amr @> $5::text[]
   AND (o.organization_id::text = lower($6) OR o.slug = $6) AND s.ended_at IS NULL
   AND ($7::timestamptz IS NULL OR s.authenticated_at >= $7) AND s.api_scopes IS NOT DISTINCT FROM $8::text[]
 ORDER BY o.organization_id::text = lower($6) DESC, s.created_at DESC LIMIT 1`;

/** An SSO connection that vouched in that second is not passed over. */
const SIGN_IN = `
SELECT s.authenticated_at, s.auth_time, s.connection_id FROM oauth_grants g
  JOIN sessions s ON s.organization_id = g.organization_id AND s.id = g.session_id
 WHERE g.browser = $1 AND s.user_id = $2 AND ${BY_SIGN_IN}
 ORDER BY s.connection_id IS NULL, s.created_at DESC LIMIT 1`;

/**
 * A suspension or a new password undoes an authentication before it, and so does the end of what has begun by it. The
 * factor that was given may have been taken away meanwhile. One that was set up ends what it was not given in, also this
 * sign-in, unless it was set up in that.
 */
const STILL_IN = `
SELECT id FROM users
 WHERE id = $1 AND status = 'active' AND deleted_at IS NULL AND (password_changed_at IS NULL OR password_changed_at <= $2)
   AND (NOT $3::boolean
        OR EXISTS (SELECT FROM mfa_factors f WHERE f.user_id = users.id AND f.confirmed_at IS NOT NULL))
   AND NOT EXISTS (SELECT FROM sessions s WHERE s.user_id = users.id AND s.authenticated_at = $2
                      AND s.ended_reason NOT IN ('idle', 'absolute')
                      AND NOT (s.ended_reason = 'mfa_changed'
                        AND ($3 AND NOT 'mfa' = ANY (s.amr)
                             OR EXISTS (SELECT FROM sessions l WHERE l.user_id = users.id AND l.authenticated_at = $2
                                           AND l.ended_at IS NULL AND 'mfa' = ANY (l.amr)))))`;

/** How whoever uses a browser signed in there. */
interface BrowserSignIn {
  /** To the millisecond, as far as something begun by it is known. */
  readonly authenticatedAt: Date;
  /** When that was at the SSO provider. */
  readonly authTime?: Date;
  /** The SSO connection that vouched. */
  readonly connectionId?: string;
}

/** Who signed in with a browser in which second, and by what. */
interface SignInOfBrowser {
  readonly browser: string;
  readonly userId: string;
  readonly since: Date;
  readonly amr: readonly string[];
  /** Where only what has begun by this very authentication counts. */
  readonly arrivedAt?: Date;
  /** What the client may use there; null: all. */
  readonly apiScopes: readonly string[] | null;
}

interface GrantRow {
  payload: AdapterPayload;
  user_id: string;
  client_id: string;
  expires_at: Date;
  api_scopes: string[] | null;
  slug: string;
}

interface UsedRow {
  user_id: string;
  client_id: string | null;
  authenticated_at: Date;
  amr: string[];
  api_scopes: string[] | null;
}

interface SignInRow {
  authenticated_at: Date;
  auth_time: Date | null;
  connection_id: string | null;
}

const DEFAULT_IDLE_MINUTES = 30;

/** Grants of the protocol: what a client may learn, for as long as the session that it is for goes on. */
@Injectable()
export class SessionGrants {
  constructor(
    private readonly database: Database,
    private readonly authentication: SessionAuthentication,
    private readonly beginnings: SessionBeginnings,
    private readonly endings: SessionEndings,
    private readonly clock: Clock,
  ) {}

  /** Begins a session with a grant that allows nothing yet. @returns the grant's id */
  async begin(authentication: Authentication & { clientId: string }, browser: string): Promise<string> {
    return this.database.acrossOrganizations(async (tx) => {
      const { id } = await this.beginnings.begin(tx, authentication);
      const { organizationId, clientId } = authentication;
      await tx.query(INSERT, [organizationId, id, clientId, browser, this.clock.now()]);
      return toGrantId({ organizationId, sessionId: id });
    });
  }

  /** The grant while its session goes on. */
  async find(grantId: string): Promise<AdapterPayload | undefined> {
    const of = fromGrantId(grantId);
    if (!of) return undefined;
    const [row] = await this.database.acrossOrganizations((tx) =>
      tx.prepared<GrantRow>(FIND, [of.organizationId, of.sessionId, this.clock.now()]),
    );
    if (!row) return undefined;
    const payload = {
      ...row.payload,
      jti: grantId,
      kind: 'Grant',
      accountId: row.user_id,
      clientId: row.client_id,
      exp: epochSeconds(row.expires_at),
      organizationSlug: row.slug,
      apiScopes: row.api_scopes,
    };
    return payload;
  }

  /** What the client was allowed now. */
  async save(grantId: string, payload: AdapterPayload): Promise<void> {
    const of = fromGrantId(grantId);
    if (!of) throw new Error('A grant begins with a session');
    await this.database.acrossOrganizations((tx) =>
      tx.query(UPDATE, [of.organizationId, of.sessionId, JSON.stringify(payload)]),
    );
  }

  /** Notes that the session is in use, which puts its idle end off. Undefined once it has ended. */
  async use(grantId: string): Promise<TokenSession | undefined> {
    return this.database.acrossOrganizations((tx) => this.useIn(tx, grantId));
  }

  /** As `use`, in the caller's transaction. */
  async useIn(tx: WorkerTransaction, grantId: string): Promise<TokenSession | undefined> {
    const of = fromGrantId(grantId);
    if (!of) return undefined;
    const values = [of.organizationId, of.sessionId, this.clock.now(), DEFAULT_IDLE_MINUTES];
    const [row] = await tx.prepared<UsedRow>(USE, values);
    return row && toTokenSession(of, row);
  }

  /** Tells what `use` tells, where the use itself is noted later. */
  async look(grantId: string): Promise<TokenSession | undefined> {
    const of = fromGrantId(grantId);
    if (!of) return undefined;
    const [row] = await this.database.acrossOrganizations((tx) =>
      tx.prepared<UsedRow>(LOOK, [of.organizationId, of.sessionId]),
    );
    return row && toTokenSession(of, row);
  }

  /** Ends the session, and with it all its tokens. */
  async end(grantId: string, reason: EndedReason): Promise<void> {
    const of = fromGrantId(grantId);
    if (!of) return;
    await this.database.acrossOrganizations((tx) => this.endIn(tx, of.organizationId, of.sessionId, reason));
  }

  /** Ends all that has begun in a browser: its user signs out. */
  async endOfBrowser(browser: string): Promise<void> {
    await this.database.acrossOrganizations(async (tx) => {
      const rows = await tx.query<{ organization_id: string; id: string }>(OF_BROWSER, [browser]);
      for (const { organization_id: organizationId, id } of rows)
        await this.endIn(tx, organizationId, id, 'logout');
    });
  }

  /** Whether whoever signed in with a browser, at `since`, need not do so again. */
  async isTrusted(browser: string, userId: string, since: Date): Promise<boolean> {
    return this.database.acrossOrganizations(async (tx) => {
      const values = [browser, userId, since, this.clock.now()];
      const [row] = await tx.query<{ trusted: boolean }>(TRUSTED, values);
      if (row?.trusted !== true) return false;
      const { connectionId } = await signInOf(tx, browser, userId, since);
      return (
        connectionId === undefined || this.authentication.vouches(tx, connectionId, userId, { hold: false })
      );
    });
  }

  /** The grant of what a sign-in has begun already; it is for the caller to see whether that goes on. */
  async begun(by: SignInOfBrowser, clientId: string, organization: string): Promise<string | undefined> {
    const { browser, userId, since, amr, arrivedAt, apiScopes } = by;
    const values = [browser, userId, since, clientId, amr, organization, arrivedAt ?? null, apiScopes];
    const [row] = await this.database.acrossOrganizations((tx) =>
      tx.query<{ organization_id: string; id: string }>(BEGUN, values),
    );
    return row && toGrantId({ organizationId: row.organization_id, sessionId: row.id });
  }

  /** The sign-in of a user in a browser in the second `since`: the protocol keeps seconds, its sessions more. */
  signInOf(browser: string, userId: string, since: Date): Promise<BrowserSignIn> {
    return this.database.acrossOrganizations((tx) => signInOf(tx, browser, userId, since));
  }

  /** Whether it would let the user in now. */
  connectionVouches(connectionId: string, userId: string): Promise<boolean> {
    return this.database.acrossOrganizations((tx) =>
      this.authentication.vouches(tx, connectionId, userId, { hold: false }),
    );
  }

  /** Whether an authentication of a moment ago still counts. */
  async isStillIn(userId: string, authenticatedAt: Date, amr: readonly string[]): Promise<boolean> {
    const users = await this.database.acrossOrganizations((tx) =>
      tx.query(STILL_IN, [userId, authenticatedAt, amr.includes('mfa')]),
    );
    return users.length > 0;
  }

  private async endIn(
    tx: WorkerTransaction,
    organizationId: string,
    id: string,
    reason: EndedReason,
  ): Promise<void> {
    const [session] = await tx.query<{ user_id: string }>(OWNER, [organizationId, id]);
    if (!session) return;
    const context = systemActor(organizationId, currentCorrelationId() ?? id, 'oauth');
    await this.endings.endAll(tx, context, { userId: session.user_id, organizationId, only: id }, reason);
  }
}

function toTokenSession({ organizationId, sessionId: id }: GrantOf, row: UsedRow): TokenSession {
  const { user_id: userId, client_id: clientId, authenticated_at: authenticatedAt, amr } = row;
  const whose = { id, organizationId, userId, ...(clientId !== null && { clientId }) };
  return { ...whose, authenticatedAt, amr, apiScopes: row.api_scopes };
}

async function signInOf(
  tx: WorkerTransaction,
  browser: string,
  userId: string,
  since: Date,
): Promise<BrowserSignIn> {
  const [row] = await tx.query<SignInRow>(SIGN_IN, [browser, userId, since]);
  if (!row) return { authenticatedAt: since };
  const { authenticated_at: authenticatedAt, connection_id: connectionId } = row;
  const authTime = row.auth_time;
  return { authenticatedAt, ...(authTime && { authTime }), ...(connectionId !== null && { connectionId }) };
}
