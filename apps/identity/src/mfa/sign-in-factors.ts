import { Injectable } from '@nestjs/common';
import type { AuditContext } from '@customer-platform/audit';
import { Database, type WorkerTransaction } from '@customer-platform/database';
import { SessionAuthentication, type CameIn } from '../sessions/session-authentication.js';
import { FactorsStore, isConfirmed } from './factors.store.js';
import { MfaAttempts } from './mfa-attempts.js';
import { MfaJournal } from './mfa-journal.js';
import type { EnrolledFactorDto } from './mfa.dto.js';
import { RecoveryCodesStore } from './recovery-codes.store.js';

/** What a factor is called that was set up while signing in. */
const NAME = 'Authenticator';
/** What a code of an app shows (RFC 8176). */
const AMR = ['otp', 'mfa'] as const;

/** What the first code of a factor leads to. */
interface FirstFactor {
  readonly amr: readonly string[];
  readonly recoveryCodes: readonly string[];
}

/** A sign-in in which a factor is given. */
export interface GivesFactor {
  wasGiven: (tx: WorkerTransaction) => Promise<boolean>;
  give: (tx: WorkerTransaction, amr: readonly string[]) => Promise<void>;
}

/** Second factors of who is signing in and has no session yet (identity.md §5). */
@Injectable()
export class SignInFactors {
  constructor(
    private readonly database: Database,
    private readonly authentication: SessionAuthentication,
    private readonly attempts: MfaAttempts,
    private readonly factors: FactorsStore,
    private readonly codes: RecoveryCodesStore,
    private readonly journal: MfaJournal,
  ) {}

  /** Whether the user has a confirmed factor, which is asked at every sign-in. */
  async has(userId: string): Promise<boolean> {
    const factors = await this.database.acrossOrganizations((tx) => this.factors.list(tx, userId));
    return factors.some(isConfirmed);
  }

  /** A code of any of the user's apps. @throws Problem `mfa_code_invalid`, `rate_limited` */
  async verifyCode(cameIn: CameIn, code: string, signIn: GivesFactor): Promise<void> {
    const { userId } = cameIn;
    await this.give(cameIn, signIn, async (tx) => {
      for (const factor of (await this.factors.list(tx, userId)).filter(isConfirmed)) {
        if (await this.factors.take(tx, userId, factor, code)) return AMR;
      }
      return undefined;
    });
  }

  /** A recovery code, which is used up. @throws Problem `mfa_code_invalid`, `rate_limited` */
  async verifyRecoveryCode(
    context: AuditContext,
    cameIn: CameIn,
    code: string,
    signIn: GivesFactor,
  ): Promise<void> {
    const { userId } = cameIn;
    await this.give(cameIn, signIn, async (tx) => {
      const used = await this.codes.use(tx, userId, code);
      if (used === undefined) return undefined;
      await this.journal.recoveryCodeUsed(tx, context, userId, used);
      return ['mfa'];
    });
  }

  /** Whoever sends a code twice has given a factor by the first: the second is neither right nor wrong. */
  private async give(
    cameIn: CameIn,
    { wasGiven, give }: GivesFactor,
    verify: (tx: WorkerTransaction) => Promise<readonly string[] | undefined>,
  ): Promise<void> {
    await this.attempts.attempt(cameIn.userId, by(cameIn), async (tx) => {
      if (await wasGiven(tx)) return {};
      const amr = await verify(tx);
      if (amr) await give(tx, amr);
      return amr;
    });
  }

  /**
   * The factor that was begun before, while it waits, else a new one, for which the oldest that nobody ended goes;
   * undefined where this way in sets none up.
   */
  async enroll(cameIn: CameIn, begun: string | undefined): Promise<EnrolledFactorDto | undefined> {
    const { userId } = cameIn;
    return this.database.acrossOrganizations(async (tx) => {
      if (!(await this.authentication.reachesAll(tx, cameIn))) return undefined;
      await this.factors.forgetStale(tx, userId);
      const factors = await this.factors.list(tx, userId);
      const waiting = factors.find((factor) => factor.id === begun && !isConfirmed(factor));
      if (waiting) return this.factors.show(tx, userId, waiting);
      return this.factors.enroll(tx, userId, NAME, await this.factors.makeRoom(tx, userId, factors));
    });
  }

  /**
   * The first code of a factor that waits for it; the user's sessions end. Recovery codes with the first factor; whoever
   * sends the code twice has perhaps not seen them, and is given others in their place.
   * @returns `over` where the factor waits no more, another is confirmed by now, or this way in sets none up any more: no
   * code of it is right or wrong
   * @throws Problem `mfa_code_invalid`, `rate_limited`
   */
  async confirm(
    context: AuditContext,
    cameIn: CameIn,
    factorId: string,
    code: string,
  ): Promise<FirstFactor | { readonly over: true }> {
    const { userId } = cameIn;
    return this.attempts.attempt(userId, by(cameIn), async (tx) => {
      const factors = await this.factors.list(tx, userId);
      const factor = factors.find(({ id }) => id === factorId);
      if (factor && isConfirmed(factor) && this.factors.isLastTaken(factor, code)) {
        const recoveryCodes = await this.codes.replace(tx, userId);
        await this.journal.recoveryCodesReplaced(tx, context, userId);
        return { amr: AMR, recoveryCodes };
      }
      // Whoever has one by now is asked for that: only who has none sets one up by a password alone.
      if (!factor || factors.some(isConfirmed) || !(await this.authentication.reachesAll(tx, cameIn)))
        return { over: true };
      if (!(await this.factors.take(tx, userId, factor, code))) return undefined;
      await this.factors.confirm(tx, cameIn, factorId);
      const codes = await this.journal.confirmed(tx, context, { userId, factorId, isFirst: true });
      return { amr: AMR, recoveryCodes: codes ?? [] };
    });
  }
}

function by(cameIn: CameIn): () => Promise<CameIn> {
  return () => Promise.resolve(cameIn);
}
