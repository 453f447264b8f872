import { Injectable } from '@nestjs/common';
import { Clock, newId, type WorkerTransaction } from '@customer-platform/database';
import { Outbox } from '@customer-platform/event-bus';
import { Problem } from '@customer-platform/problem-json';
import { effectiveSettings, type StoredSettings } from '../vocabulary/organizations/organization-settings.js';
import type { TokenSession } from './access-token.issuing.js';
import { SessionAuthentication, type CameIn } from './session-authentication.js';

const SETTINGS = 'SELECT settings FROM organizations WHERE organization_id = $1';
const INSERT = `
INSERT INTO sessions
  (organization_id, id, user_id, amr, authenticated_at, mfa_at, last_seen_at, idle_expires_at, expires_at, ip, user_agent,
   client_id, client_generation, connection_id, auth_time, api_scopes, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $7)`;
/** Held until the session is there for whoever ends the client, or suspends its organization: none is begun unseen. */
const CLIENT = `
SELECT c.generation FROM oauth_clients c
  JOIN organizations o ON o.organization_id = c.organization_id AND o.status = 'active' AND o.deleted_at IS NULL
 WHERE c.id = $1 AND c.deleted_at IS NULL AND (c.organizations = 'tree' OR c.organization_id = $2)
   FOR SHARE`;
/** A suspension or a new password after the authentication waits for this session and ends it too, or was there before. */
const SIGNED_IN = `
UPDATE users SET last_sign_in_at = $2
 WHERE id = $1 AND status = 'active' AND deleted_at IS NULL
   AND (password_changed_at IS NULL OR password_changed_at <= $3)
RETURNING id`;

/** Who has authenticated, how, and from where. */
export interface Authentication {
  readonly userId: string;
  readonly organizationId: string;
  /** RFC 8176: `pwd`, `otp`, `mfa`. */
  readonly amr: readonly string[];
  readonly correlationId: string;
  readonly ip?: string | undefined;
  readonly userAgent?: string | undefined;
  /** The OAuth client that the session is for. */
  readonly clientId?: string;
  /** What that may use of the user's rights; null or absent: all. */
  readonly apiScopes?: readonly string[] | null;
  /** The SSO connection that vouches for the user. */
  readonly connectionId?: string | undefined;
  /** When that was, where it was not just now: the session lasts from then on. */
  readonly authenticatedAt?: Date;
  /** The time that tokens say instead, where the SSO provider has told when it authenticated its user. */
  readonly authTime?: Date | undefined;
}

/** Begins sessions, with the limits that the organization has set. */
@Injectable()
export class SessionBeginnings {
  constructor(
    private readonly authentication: SessionAuthentication,
    private readonly outbox: Outbox,
    private readonly clock: Clock,
  ) {}

  /**
   * @throws Problem `not_found` where the client is not there any more; `sign_in_required` where the SSO connection vouches
   * for the user no more, the way in does not lead to the organization, or the user was suspended or has a new password
   * since the authentication
   */
  async begin(tx: WorkerTransaction, authentication: Authentication): Promise<TokenSession> {
    const { userId, organizationId, amr, correlationId, ip, userAgent, clientId, connectionId } =
      authentication;
    if (connectionId !== undefined) await this.demandVouching(tx, connectionId, userId);
    await this.demandWay(tx, { userId, connectionId }, organizationId);
    await tx.useOrganization(organizationId);
    const [organization] = await tx.query<{ settings: StoredSettings }>(SETTINGS, [organizationId]);
    const limits = effectiveSettings(organization?.settings ?? {}).session;
    const now = this.clock.now();
    const { authenticatedAt = now } = authentication;
    const id = newId();
    const ends = new Date(authenticatedAt.getTime() + limits.absolute_hours * 3_600_000);
    const idle = new Date(now.getTime() + limits.idle_minutes * 60_000);
    const mfaAt = amr.includes('mfa') ? authenticatedAt : null;
    const from = [
      ip ?? null,
      userAgent ?? null,
      clientId ?? null,
      await generationOf(tx, organizationId, clientId),
      connectionId ?? null,
      authentication.authTime ?? null,
      authentication.apiScopes ?? null,
    ];
    await tx.query(INSERT, [
      organizationId,
      id,
      userId,
      amr,
      authenticatedAt,
      mfaAt,
      now,
      idle,
      ends,
      ...from,
    ]);
    const good = await tx.query(SIGNED_IN, [userId, now, authenticatedAt]);
    if (good.length === 0)
      throw new Problem('sign_in_required', {
        detail: 'The user was suspended or has a new password since.',
      });
    await this.outbox.append(tx, {
      type: 'identity.session.started.v1',
      organizationId,
      key: userId,
      subject: `sessions/${id}`,
      data: { organization_id: organizationId, id, user_id: userId },
      correlationId,
    });
    return {
      id,
      organizationId,
      userId,
      authenticatedAt,
      amr,
      ...(clientId === undefined ? {} : { clientId }),
    };
  }

  private async demandVouching(tx: WorkerTransaction, connectionId: string, userId: string): Promise<void> {
    if (await this.authentication.vouches(tx, connectionId, userId, { hold: true })) return;
    throw new Problem('sign_in_required', { detail: 'The SSO connection vouches for the user no more.' });
  }

  private async demandWay(tx: WorkerTransaction, cameIn: CameIn, organizationId: string): Promise<void> {
    if (await this.authentication.leads(tx, cameIn, organizationId)) return;
    throw new Problem('sign_in_required', {
      detail: 'The user has signed in by a way that does not lead to this organization.',
    });
  }
}

async function generationOf(
  tx: WorkerTransaction,
  organizationId: string,
  clientId: string | undefined,
): Promise<string | null> {
  if (clientId === undefined) return null;
  const [client] = await tx.query<{ generation: string }>(CLIENT, [clientId, organizationId]);
  if (!client) throw new Problem('not_found');
  return client.generation;
}
