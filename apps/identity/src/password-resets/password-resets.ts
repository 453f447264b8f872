import { Injectable } from '@nestjs/common';
import type { AuditContext } from '@customer-platform/audit';
import { Clock, Database, newId, type WorkerTransaction } from '@customer-platform/database';
import { canonicalLocale, validateBody, type RequestOrigin } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import type { NamedToken } from '../vocabulary/link-tokens.js';
import { PasswordChanges } from '../passwords/password-changes.js';
import { PasswordHashing } from '../passwords/password-hashing.js';
import { PasswordRules } from '../passwords/password-rules.js';
import { SsoSignIn } from '../sso-connections/sso-sign-in.js';
import { ConfirmPasswordResetDto } from './password-reset.dto.js';
import { PasswordResetLimits } from './password-reset-limits.js';
import { PasswordResetTokens } from './password-reset-tokens.js';
import { keptAddress } from '../vocabulary/is-email-address.js';

/** From where a request came, and by which id it is followed. */
interface ResetOrigin extends RequestOrigin {
  readonly correlationId?: string;
}

/** Whose password is asked for anew. */
interface ResetRequest extends ResetOrigin {
  readonly email: string;
  readonly locale?: string | null | undefined;
}

/** What the row of an open reset says, and what is known of its user. */
interface OpenReset {
  user_id: string;
  generation: number;
  open: boolean;
  expires_at: Date;
  active: boolean;
  name: string;
  email: string;
  organization_name: string;
  slug: string;
}

const ENQUEUE = `
INSERT INTO password_reset_requests (organization_id, id, email, locale, ip, user_agent, correlation_id)
SELECT organization_id, $1, $2, $3, $4, $5, $6 FROM organizations WHERE parent_id IS NULL`;
/** The user first, as whoever changes one does: what is read after that is what the others have left. */
const LOCK = `
SELECT u.id FROM users u
 WHERE u.id = (SELECT user_id FROM password_resets WHERE organization_id = $1 AND id = $2) FOR UPDATE`;
const SELECT = `
SELECT r.user_id, r.generation, r.open, r.expires_at, u.status = 'active' AND u.deleted_at IS NULL AS active,
       u.name, u.email, o.name AS organization_name, o.slug
  FROM password_resets r
  JOIN users u ON u.id = r.user_id
  JOIN organizations o ON o.organization_id = r.organization_id
 WHERE r.organization_id = $1 AND r.id = $2`;
const CLOSE = 'UPDATE password_resets SET open = false WHERE organization_id = $1 AND id = $2';

/**
 * New passwords for who has forgotten theirs (identity.md §5). Asking is written down alike whoever has the address, if
 * anybody; what follows from it is done later, so that neither answer nor time tell anything.
 */
@Injectable()
export class PasswordResets {
  constructor(
    private readonly database: Database,
    private readonly limits: PasswordResetLimits,
    private readonly tokens: PasswordResetTokens,
    private readonly sso: SsoSignIn,
    private readonly rules: PasswordRules,
    private readonly passwords: PasswordHashing,
    private readonly changes: PasswordChanges,
    private readonly clock: Clock,
  ) {}

  /** Past the limits nothing is sent, and the last token lives on. Nobody is told of either. */
  async request({ email, locale, ip, userAgent, correlationId }: ResetRequest): Promise<void> {
    const address = keptAddress(email);
    const named = locale ? (canonicalLocale(locale) ?? locale) : null;
    const from = [ip ?? null, userAgent ?? null, correlationId ?? newId()];
    await this.database.acrossOrganizations(async (tx) => {
      if (!(await this.limits.take(tx, address, ip))) return;
      await tx.query(ENQUEUE, [newId(), address, named, ...from]);
    });
  }

  /**
   * Sets the password by a token, ends every session and signs nobody in. The token is looked at twice: before the
   * password is hashed, which takes its time and holds nothing, and under the user's lock, where of many who come with
   * it the first is let in. Wrong passwords of before count no more.
   * @returns the address whose password it is
   * @throws Problem `missing_credentials`, `invalid_token`, `token_expired`, `validation_failed`, `rate_limited`
   */
  async confirm(body: unknown, origin: ResetOrigin = {}): Promise<{ readonly email: string }> {
    const token = this.tokens.readFrom(body);
    const seen = await this.database.acrossOrganizations((tx) => this.open(tx, token));
    // Since the mail was written their organization may have begun to demand its own sign-in.
    if (!(await this.sso.allowsPassword({ userId: seen.user_id, email: seen.email })))
      throw new Problem('invalid_token');
    const { password } = await validateBody(ConfirmPasswordResetDto, body);
    await this.rules.demandUncommon(password, [seen.name, seen.email, seen.organization_name, seen.slug]);
    const hash = await this.passwords.hash(password, origin.ip);
    await this.database.acrossOrganizations(async (tx) => {
      await tx.query(LOCK, [token.organizationId, token.id]);
      const { user_id: userId } = await this.open(tx, token);
      await tx.query(CLOSE, [token.organizationId, token.id]);
      await this.changes.change(tx, contextOf(tx, userId, origin), { userId, email: seen.email, hash });
    });
    return { email: seen.email };
  }

  private async open(
    tx: WorkerTransaction,
    { organizationId, id, generation }: NamedToken,
  ): Promise<OpenReset> {
    await tx.useOrganization(organizationId);
    const [reset] = await tx.query<OpenReset>(SELECT, [organizationId, id]);
    if (!reset?.open || !reset.active || reset.generation !== generation) throw new Problem('invalid_token');
    if (reset.expires_at <= this.clock.now()) throw new Problem('token_expired');
    return reset;
  }
}

/** The person acts, whose token it was. */
function contextOf(
  { organizationId }: WorkerTransaction,
  userId: string,
  { correlationId = newId(), ...origin }: ResetOrigin,
): AuditContext {
  return { ...origin, organizationId, correlationId, actor: { type: 'user', id: userId } };
}
