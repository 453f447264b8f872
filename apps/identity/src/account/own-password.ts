import { Injectable } from '@nestjs/common';
import { Database, type WorkerTransaction } from '@customer-platform/database';
import type { RequestContext } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import { PasswordAttempts } from '../passwords/password-attempts.js';
import { PasswordChanges } from '../passwords/password-changes.js';
import { PasswordHashing } from '../passwords/password-hashing.js';
import { PasswordRules } from '../passwords/password-rules.js';
import { OwnSession, selfOf, type Self } from '../sessions/own-session.js';
import { SsoSignIn } from '../sso-connections/sso-sign-in.js';
import type { ChangePasswordDto } from './account.dto.js';

/** Whose password it is, and what is known of them. */
interface Owner {
  home: string;
  email: string;
  name: string;
  password_hash: string | null;
  organization_name: string;
  slug: string;
}

const OWNER = `
SELECT u.organization_id AS home, u.email, u.name, u.password_hash, o.name AS organization_name, o.slug
  FROM users u JOIN organizations o ON o.organization_id = u.organization_id
 WHERE u.id = $1 AND u.status = 'active' AND u.deleted_at IS NULL`;
/** Whoever else changes the user waits: what is read after that is what the others have left. */
const LOCK = 'SELECT id FROM users WHERE id = $1 FOR UPDATE';
const HOLDS = 'A password holds';

/** The calling user's own password (identity.md §5). */
@Injectable()
export class OwnPassword {
  constructor(
    private readonly database: Database,
    private readonly session: OwnSession,
    private readonly sso: SsoSignIn,
    private readonly rules: PasswordRules,
    private readonly passwords: PasswordHashing,
    private readonly attempts: PasswordAttempts,
    private readonly changes: PasswordChanges,
  ) {}

  /**
   * Replaces the password, by the present one, and ends all sessions but the caller's own. Hashing takes its time and
   * holds nothing: of two changes at once, the one that comes second to the user's lock knows the present one no more.
   * @throws Problem `user_not_managed` in a session of a tenant's client, `single_sign_on_required`,
   *   `fresh_sign_in_required` of whom has no password yet, `current_password_invalid`, `validation_failed`,
   *   `rate_limited`
   */
  async change(
    context: RequestContext,
    { current_password: given, password }: ChangePasswordDto,
  ): Promise<void> {
    const self = selfOf(context);
    const owner = await this.database.acrossOrganizations((tx) => this.standing(tx, context, self));
    const { email, password_hash: former } = owner;
    if (!(await this.sso.allowsPassword({ userId: self.userId, email }))) throw ssoRequired();
    const current = presentOf(owner, given);
    await this.rules.demandUncommon(password, [owner.name, email, owner.organization_name, owner.slug]);
    if (current !== undefined) await this.demandRight(context, owner, current);
    if (current?.normalize('NFKC') === password.normalize('NFKC')) throw unchanged();
    const hash = await this.passwords.hash(password, context.ip);
    await this.database.acrossOrganizations(async (tx) => {
      await tx.query(LOCK, [self.userId]);
      const now = await this.standing(tx, context, self);
      if (now.password_hash !== former) throw new Problem('current_password_invalid');
      await tx.useOrganization(now.home);
      const told = { ...context, organizationId: now.home };
      const { userId, sessionId: exceptSessionId } = self;
      await this.changes.change(tx, told, { userId, email: now.email, hash, exceptSessionId });
    });
  }

  /** Whose it is, while the session may do this. */
  private async standing(tx: WorkerTransaction, context: RequestContext, { userId }: Self): Promise<Owner> {
    const { connection_id: connectionId } = await this.session.demandOwnClient(tx, context, HOLDS);
    const [owner] = await tx.query<Owner>(OWNER, [userId]);
    if (!owner) throw new Problem('invalid_token');
    if (owner.password_hash !== null) return owner;
    // A connection acts in its own organization: a first password would let whoever edits it into the others, too.
    if (connectionId !== null) throw ssoRequired();
    await this.session.demandFresh(tx, context);
    return owner;
  }

  /** Guesses count as those at sign-in do. @throws Problem `current_password_invalid`, `rate_limited` */
  private async demandRight(
    { organizationId, ip }: RequestContext,
    { email, password_hash: hash }: Owner,
    current: string,
  ): Promise<void> {
    const right = await this.attempts.attempt({ organizationId, email, ip }, async () =>
      (await this.passwords.verify(hash, current, ip)) ? {} : undefined,
    );
    if (right === undefined) throw new Problem('current_password_invalid');
  }
}

/** The present password as it was given; undefined where there is none. @throws Problem `validation_failed` */
function presentOf({ password_hash: hash }: Owner, given: string | undefined): string | undefined {
  const pointer = '/current_password';
  if (hash !== null && given === undefined) {
    const detail = 'Give the present password.';
    throw Problem.validation([{ pointer, code: 'required', detail }]);
  }
  if (hash === null && given !== undefined) {
    const detail = 'There is no password yet.';
    throw Problem.validation([{ pointer, code: 'not_allowed', detail }]);
  }
  return given;
}

function ssoRequired(): Problem {
  return new Problem('single_sign_on_required');
}

function unchanged(): Problem {
  const detail = 'That is the present password.';
  return Problem.validation([{ pointer: '/password', code: 'not_allowed', detail }]);
}
