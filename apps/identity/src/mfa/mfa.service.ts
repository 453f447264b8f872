import { Injectable } from '@nestjs/common';
import { Clock, Database, type WorkerTransaction } from '@customer-platform/database';
import type { RequestContext } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import { FRESH_MS, OwnSession, selfOf, type Self, type Standing } from '../sessions/own-session.js';
import { SessionAuthentication, type CameIn } from '../sessions/session-authentication.js';
import { FactorsStore, isConfirmed } from './factors.store.js';
import { MfaAttempts } from './mfa-attempts.js';
import { MfaJournal } from './mfa-journal.js';
import type { EnrolledFactorDto, MfaDto, VerifiedDto } from './mfa.dto.js';
import { RecoveryCodesStore } from './recovery-codes.store.js';

const GAIN = `
UPDATE sessions SET mfa_at = $3, amr = ARRAY(SELECT DISTINCT unnest(amr || $4::text[]) ORDER BY 1)
 WHERE organization_id = $1 AND id = $2 AND ended_at IS NULL RETURNING id`;
const HOLDS = 'A second factor holds';

/** The state of the session, and by which connection it was begun. */
type Arrived = Standing & Pick<CameIn, 'connectionId'>;

/**
 * Second factors of the calling user (identity.md §5). They hold in every organization, while a token is of one and in
 * the hands of its client: no tenant's client changes them, or uses up the wrong codes that are forgiven.
 */
@Injectable()
export class MfaService {
  constructor(
    private readonly database: Database,
    private readonly session: OwnSession,
    private readonly authentication: SessionAuthentication,
    private readonly attempts: MfaAttempts,
    private readonly factors: FactorsStore,
    private readonly codes: RecoveryCodesStore,
    private readonly journal: MfaJournal,
    private readonly clock: Clock,
  ) {}

  read(context: RequestContext): Promise<MfaDto> {
    const { userId } = selfOf(context);
    return this.database.acrossOrganizations(async (tx) => {
      const factors = await this.factors.list(tx, userId);
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

  /**
   * @throws Problem `user_not_managed`, `fresh_sign_in_required`, `mfa_required` for a further factor without one given
   *   lately, `limit_reached`
   */
  enroll(context: RequestContext, name: string): Promise<EnrolledFactorDto> {
    const self = selfOf(context);
    return this.database.acrossOrganizations(async (tx) => {
      const standing = await this.inOwnClient(context)(tx);
      await this.factors.forgetStale(tx, self.userId);
      const factors = await this.factors.list(tx, self.userId);
      if (factors.some(isConfirmed)) this.demandSecondFactor(standing, FRESH_MS);
      else {
        await this.demandReach(tx, self, standing);
        // Whoever has come upon a session would lock its user out of all others.
        await this.session.demandFresh(tx, context);
      }
      return this.factors.enroll(tx, self.userId, name, factors);
    });
  }

  /**
   * A code of a factor: confirms it where it waits for that, and gives the session a second factor.
   * @throws Problem `user_not_managed`, `mfa_required` to confirm a further one in a session without any
   */
  verifyCode(context: RequestContext, factorId: string, code: string): Promise<VerifiedDto> {
    const self = selfOf(context);
    const { userId, sessionId } = self;
    return this.attempts.attempt(userId, this.inOwnClient(context), async (tx, standing) => {
      const factors = await this.factors.list(tx, userId);
      const factor = factors.find(({ id }) => id === factorId);
      if (factor && !isConfirmed(factor)) {
        // One that was begun while there was none yet becomes no further one by the first factor alone.
        if (factors.some(isConfirmed)) this.demandSecondFactor(standing);
        else await this.demandReach(tx, self, standing);
      }
      if (!factor || !(await this.factors.take(tx, userId, factor, code))) return undefined;
      await this.gain(tx, context, self, ['otp', 'mfa']);
      if (isConfirmed(factor)) return this.verified(tx, self, null, null);
      await this.factors.confirm(tx, { userId, connectionId: standing.connectionId }, factor.id);
      const isFirst = !factors.some(isConfirmed);
      const codes = await this.journal.confirmed(tx, context, { userId, factorId, isFirst, sessionId });
      return this.verified(tx, self, factor.id, codes);
    });
  }

  /** A recovery code, which is used up. @throws Problem `user_not_managed` */
  verifyRecoveryCode(context: RequestContext, code: string): Promise<VerifiedDto> {
    const self = selfOf(context);
    return this.attempts.attempt(self.userId, this.inOwnClient(context), async (tx) => {
      const used = await this.codes.use(tx, self.userId, code);
      if (used === undefined) return undefined;
      await this.gain(tx, context, self, ['mfa']);
      await this.journal.recoveryCodeUsed(tx, context, self.userId, used);
      return this.verified(tx, self, null, null);
    });
  }

  /**
   * Ten new ones; the former are dead.
   * @throws Problem `user_not_managed`, `mfa_required` unless a second factor was given lately
   */
  replaceRecoveryCodes(context: RequestContext): Promise<string[]> {
    const self = selfOf(context);
    return this.database.acrossOrganizations(async (tx) => {
      this.demandSecondFactor(await this.session.demandOwnClient(tx, context, HOLDS), FRESH_MS);
      const codes = await this.codes.replace(tx, self.userId);
      await this.journal.recoveryCodesReplaced(tx, context, self.userId);
      return codes;
    });
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

  private demandSecondFactor({ mfa_at: at }: Standing, within = Infinity): void {
    if (at && this.clock.now().getTime() - at.getTime() <= within) return;
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

  /** The state of the session and how it was begun. @throws Problem `user_not_managed`, `invalid_token` */
  private inOwnClient(context: RequestContext): (tx: WorkerTransaction) => Promise<Arrived> {
    return async (tx) => {
      const standing = await this.session.demandOwnClient(tx, context, HOLDS);
      return { ...standing, connectionId: standing.connection_id ?? undefined };
    };
  }

  /** @throws Problem `user_not_managed` in a session by a connection, of who is in an organization that it does not lead to */
  private async demandReach(
    tx: WorkerTransaction,
    { userId }: Self,
    { connectionId }: Arrived,
  ): Promise<void> {
    if (await this.authentication.reachesAll(tx, { userId, connectionId })) return;
    throw new Problem('user_not_managed', {
      detail: `${HOLDS} in all organizations, and this sign-in is good for one: sign in with a password to set it up.`,
    });
  }
}
