import { Injectable } from '@nestjs/common';
import { Clock, KeySeal, newId, type WorkerTransaction } from '@customer-platform/database';
import { Problem } from '@customer-platform/problem-json';
import type { CameIn } from '../sessions/session-authentication.js';
import type { EnrolledFactorDto } from './mfa.dto.js';
import { isOfStep, newTotpSecret, otpauthUri, stepOf } from './totp.js';

/** A factor waits so long for its first code. */
const PENDING_MS = 10 * 60_000;
const MOST_FACTORS = 5;

/** A factor of a user that is confirmed, or still waits for its first code. */
interface FactorRow {
  id: string;
  type: string;
  name: string;
  secret: Buffer;
  confirmed_at: Date | null;
  /** The step of the last code that was taken. */
  last_step: number | null;
  created_at: Date;
}

const FACTORS = `
SELECT id, type, name, secret, confirmed_at, last_step::int AS last_step, created_at FROM mfa_factors
 WHERE user_id = $1 AND (confirmed_at IS NOT NULL OR pending_until > $2) ORDER BY created_at, id`;
const FORGET_STALE = 'DELETE FROM mfa_factors WHERE user_id = $1 AND pending_until <= $2';
const REMOVE_PENDING = 'DELETE FROM mfa_factors WHERE user_id = $1 AND id = $2 AND confirmed_at IS NULL';
const ENROLL = `
INSERT INTO mfa_factors (organization_id, id, user_id, type, name, secret, pending_until, created_at)
SELECT organization_id, $2, id, 'totp', $3, $4, $5, $6 FROM users WHERE id = $1`;
/** A step is taken once, also by two at the same moment. */
const TAKE_STEP = `
UPDATE mfa_factors SET last_step = $3
 WHERE user_id = $1 AND id = $2 AND (last_step IS NULL OR last_step < $3) RETURNING id`;
const CONFIRM = `
UPDATE mfa_factors SET confirmed_at = $3, pending_until = NULL, connection_id = $4 WHERE user_id = $1 AND id = $2`;
const EMAIL = 'SELECT email FROM users WHERE id = $1';

/** Second factors of users; their secrets are sealed. */
@Injectable()
export class FactorsStore {
  constructor(
    private readonly seal: KeySeal,
    private readonly clock: Clock,
  ) {}

  /** Those that count: confirmed, or waiting for their first code and not too long. */
  list(tx: WorkerTransaction, userId: string): Promise<FactorRow[]> {
    return tx.query<FactorRow>(FACTORS, [userId, this.clock.now()]);
  }

  async forgetStale(tx: WorkerTransaction, userId: string): Promise<void> {
    await tx.query(FORGET_STALE, [userId, this.clock.now()]);
  }

  /** Those that are left when there is to be room for another: the oldest that wait for their first code go. */
  async makeRoom(
    tx: WorkerTransaction,
    userId: string,
    factors: readonly FactorRow[],
  ): Promise<readonly FactorRow[]> {
    const waiting = factors.filter((factor) => !isConfirmed(factor));
    const gone = waiting.slice(0, Math.max(0, factors.length + 1 - MOST_FACTORS));
    for (const { id } of gone) await tx.query(REMOVE_PENDING, [userId, id]);
    return factors.filter((factor) => !gone.includes(factor));
  }

  /** A further factor beside those. @throws Problem `limit_reached` */
  async enroll(
    tx: WorkerTransaction,
    userId: string,
    name: string,
    others: readonly FactorRow[],
  ): Promise<EnrolledFactorDto> {
    if (others.length >= MOST_FACTORS) {
      const detail = `A user has at most ${String(MOST_FACTORS)} factors.`;
      throw new Problem('limit_reached', { detail, members: { limit: MOST_FACTORS } });
    }
    const now = this.clock.now();
    const id = newId();
    const secret = newTotpSecret();
    const sealed = Buffer.from(this.seal.seal(id, secret));
    await tx.query(ENROLL, [userId, id, name, sealed, new Date(now.getTime() + PENDING_MS), now]);
    return this.shown(tx, userId, id, secret);
  }

  /** What an authenticator app needs of a factor that waits for its first code. */
  async show(tx: WorkerTransaction, userId: string, { id, secret }: FactorRow): Promise<EnrolledFactorDto> {
    return this.shown(tx, userId, id, this.seal.open(id, secret.toString()));
  }

  /** Uses up the step that a code is of; false for a code that is none, or was used. */
  async take(tx: WorkerTransaction, userId: string, factor: FactorRow, code: string): Promise<boolean> {
    const step = stepOf(this.seal.open(factor.id, factor.secret.toString()), code, this.clock.now());
    if (step === undefined) return false;
    const taken = await tx.query(TAKE_STEP, [userId, factor.id, step]);
    return taken.length > 0;
  }

  /** Whether this is the code that was taken last: who sends it again has sent it twice. */
  isLastTaken({ id, secret, last_step: step }: FactorRow, code: string): boolean {
    return step !== null && isOfStep(this.seal.open(id, secret.toString()), code, step);
  }

  /** Confirms a factor; how its user came in is noted with it. */
  async confirm(tx: WorkerTransaction, { userId, connectionId }: CameIn, factorId: string): Promise<void> {
    await tx.query(CONFIRM, [userId, factorId, this.clock.now(), connectionId ?? null]);
  }

  private async shown(
    tx: WorkerTransaction,
    userId: string,
    id: string,
    secret: string,
  ): Promise<EnrolledFactorDto> {
    const [user] = await tx.query<{ email: string }>(EMAIL, [userId]);
    return { factor_id: id, secret, otpauth_uri: otpauthUri(secret, user?.email ?? '') };
  }
}

/** Whether a factor is asked at every sign-in. */
export function isConfirmed({ confirmed_at: at }: FactorRow): boolean {
  return at !== null;
}
