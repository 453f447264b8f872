import { Injectable } from '@nestjs/common';
import { Audit } from '@customer-platform/audit';
import { Clock, Database, KeySeal, newId, type WorkerTransaction } from '@customer-platform/database';
import { Outbox } from '@customer-platform/event-bus';
import type { RequestContext } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import { SessionEndings } from '../sessions/session-endings.js';
import { MfaAttempts } from './mfa-attempts.js';
import type { EnrolledFactorDto, MfaDto, VerifiedDto } from './mfa.dto.js';
import { RecoveryCodesStore } from './recovery-codes.store.js';
import { newTotpSecret, otpauthUri, stepOf } from './totp.js';

/** A factor waits so long for its first code. */
const PENDING_MS = 10 * 60_000;
/** New recovery codes need a second factor given so lately. */
const FRESH_MS = 10 * 60_000;
const MOST_FACTORS = 5;

interface FactorRow {
  id: string;
  type: string;
  name: string;
  secret: Buffer;
  confirmed_at: Date | null;
  created_at: Date;
}

const FACTORS = `
SELECT id, type, name, secret, confirmed_at, created_at FROM mfa_factors
 WHERE user_id = $1 AND (confirmed_at IS NOT NULL OR pending_until > $2) ORDER BY created_at, id`;
const FORGET_STALE = 'DELETE FROM mfa_factors WHERE user_id = $1 AND pending_until <= $2';
const ENROLL = `
INSERT INTO mfa_factors (organization_id, id, user_id, type, name, secret, pending_until, created_at)
SELECT organization_id, $2, id, 'totp', $3, $4, $5, $6 FROM users WHERE id = $1`;
/** A step is taken once, also by two at the same moment. */
const TAKE_STEP = `
UPDATE mfa_factors SET last_step = $3
 WHERE user_id = $1 AND id = $2 AND (last_step IS NULL OR last_step < $3) RETURNING id`;
const CONFIRM = `UPDATE mfa_factors SET confirmed_at = $3, pending_until = NULL WHERE user_id = $1 AND id = $2`;
const GAIN = `
UPDATE sessions SET mfa_at = $3, amr = ARRAY(SELECT DISTINCT unnest(amr || $4::text[]) ORDER BY 1)
 WHERE organization_id = $1 AND id = $2 AND ended_at IS NULL RETURNING id`;
const FRESH = 'SELECT mfa_at FROM sessions WHERE organization_id = $1 AND id = $2';
const EMAIL = 'SELECT email FROM users WHERE id = $1';

/** A user in a session, as every call here needs one. */
interface Self {
  readonly userId: string;
  readonly sessionId: string;
}

/** Second factors of the calling user (identity.md §5). */
@Injectable()
export class MfaService {
  constructor(
    private readonly database: Database,
    private readonly attempts: MfaAttempts,
    private readonly codes: RecoveryCodesStore,
    private readonly sessions: SessionEndings,
    private readonly seal: KeySeal,
    private readonly audit: Audit,
    private readonly outbox: Outbox,
    private readonly clock: Clock,
  ) {}

  read(context: RequestContext): Promise<MfaDto> {
    const { userId } = selfOf(context);
    return this.database.acrossOrganizations(async (tx) => {
      const factors = await tx.query<FactorRow>(FACTORS, [userId, this.clock.now()]);
      return {
        factors: factors.map(({ id, type, name, confirmed_at, created_at }) => ({
          id,
          type,
          name,
          confirmed_at: confirmed_at?.toISOString() ?? null,
          created_at: created_at.toISOString(),
        })),
        recovery_codes_left: await this.codes.left(tx, userId),
      };
    });
  }

  /** @throws Problem `mfa_required` for a further factor without a second one given, `limit_reached` */
  enroll(context: RequestContext, name: string): Promise<EnrolledFactorDto> {
    const self = selfOf(context);
    return this.database.acrossOrganizations(async (tx) => {
      const now = this.clock.now();
      await tx.query(FORGET_STALE, [self.userId, now]);
      const factors = await tx.query<FactorRow>(FACTORS, [self.userId, now]);
      if (factors.some(isConfirmed)) await this.demandSecondFactor(tx, context, self);
      if (factors.length >= MOST_FACTORS) {
        const detail = `A user has at most ${String(MOST_FACTORS)} factors.`;
        throw new Problem('limit_reached', { detail, members: { limit: MOST_FACTORS } });
      }
      const id = newId();
      const secret = newTotpSecret();
      const sealed = Buffer.from(this.seal.seal(id, secret));
      await tx.query(ENROLL, [self.userId, id, name, sealed, new Date(now.getTime() + PENDING_MS), now]);
      const [user] = await tx.query<{ email: string }>(EMAIL, [self.userId]);
      return { factor_id: id, secret, otpauth_uri: otpauthUri(secret, user?.email ?? '') };
    });
  }

  /** A code of a factor: confirms it where it waits for that, and gives the session a second factor. */
  verifyCode(context: RequestContext, factorId: string, code: string): Promise<VerifiedDto> {
    const self = selfOf(context);
    return this.attempts.attempt(self.userId, async (tx) => {
      const now = this.clock.now();
      const factors = await tx.query<FactorRow>(FACTORS, [self.userId, now]);
      const factor = factors.find(({ id }) => id === factorId);
      if (!factor) return undefined;
      const step = stepOf(this.seal.open(factor.id, factor.secret.toString()), code, now);
      if (step === undefined) return undefined;
      const taken = await tx.query(TAKE_STEP, [self.userId, factor.id, step]);
      if (taken.length === 0) return undefined;
      await this.gain(tx, context, self, ['otp', 'mfa']);
      const first = !factors.some(isConfirmed);
      const recoveryCodes = isConfirmed(factor)
        ? null
        : await this.confirm(tx, context, self, factor.id, first);
      return this.verified(tx, self, isConfirmed(factor) ? null : factor.id, recoveryCodes);
    });
  }

  /** A recovery code, which is used up. */
  verifyRecoveryCode(context: RequestContext, code: string): Promise<VerifiedDto> {
    const self = selfOf(context);
    return this.attempts.attempt(self.userId, async (tx) => {
      const used = await this.codes.use(tx, self.userId, code);
      if (used === undefined) return undefined;
      await this.gain(tx, context, self, ['mfa']);
      await this.tell(
        tx,
        context,
        'identity.recovery_code.used.v1',
        `recovery-codes/${used}`,
        used,
        self.userId,
      );
      await this.record(tx, context, 'identity.mfa.use_recovery_code', self.userId, ['recovery_codes']);
      return this.verified(tx, self, null, null);
    });
  }

  /** Ten new ones; the former are dead. @throws Problem `mfa_required` unless a second factor was given lately */
  replaceRecoveryCodes(context: RequestContext): Promise<string[]> {
    const self = selfOf(context);
    return this.database.acrossOrganizations(async (tx) => {
      await this.demandSecondFactor(tx, context, self, FRESH_MS);
      const codes = await this.codes.replace(tx, self.userId);
      const id = self.userId;
      await this.tell(tx, context, 'identity.recovery_code.replaced.v1', `users/${id}`, id, self.userId);
      await this.record(tx, context, 'identity.mfa.replace_recovery_codes', self.userId, ['recovery_codes']);
      return codes;
    });
  }

  private async confirm(
    tx: WorkerTransaction,
    context: RequestContext,
    { userId, sessionId }: Self,
    factorId: string,
    first: boolean,
  ): Promise<string[] | null> {
    await tx.query(CONFIRM, [userId, factorId, this.clock.now()]);
    await this.sessions.endAll(tx, context, { userId, except: sessionId }, 'mfa_changed');
    await this.tell(
      tx,
      context,
      'identity.mfa_factor.confirmed.v1',
      `mfa-factors/${factorId}`,
      factorId,
      userId,
    );
    await this.record(tx, context, 'identity.mfa.confirm', userId, ['factors']);
    return first ? this.codes.replace(tx, userId) : null;
  }

  /** The session has a second factor from now on. One that has ended meanwhile has nothing any more. */
  private async gain(
    tx: WorkerTransaction,
    { organizationId }: RequestContext,
    { sessionId }: Self,
    amr: readonly string[],
  ): Promise<void> {
    const gained = await tx.query(GAIN, [organizationId, sessionId, this.clock.now(), amr]);
    if (gained.length === 0) throw new Problem('invalid_token');
  }

  private async demandSecondFactor(
    tx: WorkerTransaction,
    { organizationId }: RequestContext,
    { sessionId }: Self,
    within = Infinity,
  ): Promise<void> {
    const [session] = await tx.query<{ mfa_at: Date | null }>(FRESH, [organizationId, sessionId]);
    const at = session?.mfa_at?.getTime() ?? -Infinity;
    if (Number.isFinite(at) && this.clock.now().getTime() - at <= within) return;
    throw new Problem('mfa_required', { detail: 'Verify a code of a factor first.' });
  }

  private async verified(
    tx: WorkerTransaction,
    { userId, sessionId }: Self,
    confirmed: string | null,
    recoveryCodes: string[] | null,
  ): Promise<VerifiedDto> {
    return {
      session_id: sessionId,
      confirmed_factor_id: confirmed,
      recovery_codes: recoveryCodes,
      recovery_codes_left: await this.codes.left(tx, userId),
    };
  }

  private async tell(
    tx: WorkerTransaction,
    { organizationId, correlationId }: RequestContext,
    type:
      | 'identity.mfa_factor.confirmed.v1'
      | 'identity.recovery_code.used.v1'
      | 'identity.recovery_code.replaced.v1',
    subject: string,
    id: string,
    userId: string,
  ): Promise<void> {
    await this.outbox.append(tx, {
      type,
      organizationId,
      key: userId,
      subject,
      data: { organization_id: organizationId, id, user_id: userId },
      correlationId,
    });
  }

  private async record(
    tx: WorkerTransaction,
    context: RequestContext,
    action: string,
    id: string,
    changedFields: string[],
  ): Promise<void> {
    await tx.useOrganization(context.organizationId);
    await this.audit.record(tx, context, { action, resource: { type: 'users', id }, changedFields });
  }
}

function isConfirmed({ confirmed_at: at }: FactorRow): boolean {
  return at !== null;
}

function selfOf({ principal, sessionId }: RequestContext): Self {
  if (principal.type !== 'user' || sessionId === undefined) throw new Problem('user_required');
  return { userId: principal.id, sessionId };
}
