import { Injectable } from '@nestjs/common';
import { Clock, Database, newId, type WorkerTransaction } from '@customer-platform/database';
import { Problem } from '@customer-platform/problem-json';

/** So many wrong codes are forgiven in so long (identity.md §5). */
const MOST_WRONG = 5;
const WITHIN_MS = 15 * 60_000;

const TAKE_TURNS = `SELECT pg_advisory_xact_lock(hashtextextended($1, 0))`;
const RECENT = `
SELECT count(*)::int AS count, min(failed_at) AS first FROM mfa_failures WHERE user_id = $1 AND failed_at > $2`;
const FORGET = 'DELETE FROM mfa_failures WHERE user_id = $1 AND failed_at <= $2';
const NOTE = `
INSERT INTO mfa_failures (organization_id, id, user_id, failed_at)
SELECT organization_id, $2, id, $3 FROM users WHERE id = $1`;

/** Whoever confirms a factor of the user, or takes them all away, waits for who does so now. */
export async function takeTurns(tx: WorkerTransaction, userId: string): Promise<void> {
  await tx.query(TAKE_TURNS, [`mfa:${userId}`]);
}

/** Keeps codes from being guessed: attempts of one user take turns, and wrong ones count although they change nothing. */
@Injectable()
export class MfaAttempts {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /**
   * Runs an attempt; undefined means that the code was wrong.
   * @throws Problem `mfa_code_invalid`, `rate_limited` after too many of those
   */
  async attempt<T extends object>(
    userId: string,
    work: (tx: WorkerTransaction) => Promise<T | undefined>,
  ): Promise<T> {
    const attempt = async (tx: WorkerTransaction): Promise<T | undefined> => {
      await takeTurns(tx, userId);
      await this.demandRoom(tx, userId);
      const result = await work(tx);
      if (result === undefined) await tx.query(NOTE, [userId, newId(), this.clock.now()]);
      return result;
    };
    // A wrong code counts though the call is refused, and a right one is used up however often it is sent.
    const done = await this.database.acrossOrganizations(attempt, { alone: true });
    if (done === undefined)
      throw new Problem('mfa_code_invalid', { detail: 'The code is wrong, or was used.' });
    return done;
  }

  private async demandRoom(tx: WorkerTransaction, userId: string): Promise<void> {
    const now = this.clock.now().getTime();
    const since = new Date(now - WITHIN_MS);
    await tx.query(FORGET, [userId, since]);
    const [recent] = await tx.query<{ count: number; first: Date | null }>(RECENT, [userId, since]);
    if (!recent?.first || recent.count < MOST_WRONG) return;
    const left = Math.ceil((recent.first.getTime() + WITHIN_MS - now) / 1_000);
    throw new Problem('rate_limited', {
      detail: `Too many wrong codes; try again in ${String(left)} s.`,
      headers: { 'Retry-After': String(left) },
      members: { scope: 'user' },
    });
  }
}
