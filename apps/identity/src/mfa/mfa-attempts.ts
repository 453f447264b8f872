import { Injectable } from '@nestjs/common';
import { Clock, Database, newId, type WorkerTransaction } from '@customer-platform/database';
import { Problem } from '@customer-platform/problem-json';
import { SessionAuthentication, type CameIn } from '../sessions/session-authentication.js';

/** So many wrong codes are forgiven in so long (identity.md §5). */
const MOST_WRONG = 5;
const WITHIN_MS = 15 * 60_000;

const TAKE_TURNS = `SELECT pg_advisory_xact_lock(hashtextextended($1, 0))`;
const RECENT = `
SELECT count(*)::int AS count, min(failed_at) AS first FROM mfa_failures
 WHERE user_id = $1 AND failed_at > $2 AND connection_of IS NOT DISTINCT FROM $3`;
const FORGET = 'DELETE FROM mfa_failures WHERE user_id = $1 AND failed_at <= $2';
const NOTE = `
INSERT INTO mfa_failures (organization_id, id, user_id, failed_at, connection_of)
SELECT organization_id, $2, id, $3, $4 FROM users WHERE id = $1`;

/** Whoever confirms a factor of the user, or takes them all away, waits for who does so now. */
export async function takeTurns(tx: WorkerTransaction, userId: string): Promise<void> {
  await tx.query(TAKE_TURNS, [`mfa:${userId}`]);
}

/**
 * Keeps codes from being guessed: attempts of one user take turns, and wrong ones count although they change nothing.
 * Those by the connections of an organization count by themselves: whoever edits one could else keep its people from
 * giving their factors in others.
 */
@Injectable()
export class MfaAttempts {
  constructor(
    private readonly database: Database,
    private readonly authentication: SessionAuthentication,
    private readonly clock: Clock,
  ) {}

  /**
   * Runs an attempt; undefined means that the code was wrong.
   * @param cameIn asked for in the transaction of the attempt
   * @throws Problem `mfa_code_invalid`, `rate_limited` after too many of those
   */
  async attempt<T extends object, By extends Pick<CameIn, 'connectionId'>>(
    userId: string,
    cameIn: (tx: WorkerTransaction) => Promise<By>,
    work: (tx: WorkerTransaction, by: By) => Promise<T | undefined>,
  ): Promise<T> {
    const attempt = async (tx: WorkerTransaction): Promise<T | undefined> => {
      await takeTurns(tx, userId);
      const by = await cameIn(tx);
      const connection = await this.authentication.connectionOf(tx, by);
      await this.demandRoom(tx, userId, connection);
      const result = await work(tx, by);
      if (result === undefined) await tx.query(NOTE, [userId, newId(), this.clock.now(), connection]);
      return result;
    };
    // A wrong code counts though the call is refused, and a right one is used up however often it is sent.
    const done = await this.database.acrossOrganizations(attempt, { alone: true });
    if (done === undefined)
      throw new Problem('mfa_code_invalid', { detail: 'The code is wrong, or was used.' });
    return done;
  }

  private async demandRoom(tx: WorkerTransaction, userId: string, connection: string | null): Promise<void> {
    const now = this.clock.now().getTime();
    const since = new Date(now - WITHIN_MS);
    await tx.query(FORGET, [userId, since]);
    const [recent] = await tx.query<{ count: number; first: Date | null }>(RECENT, [
      userId,
      since,
      connection,
    ]);
    if (!recent?.first || recent.count < MOST_WRONG) return;
    const left = Math.ceil((recent.first.getTime() + WITHIN_MS - now) / 1_000);
    throw new Problem('rate_limited', {
      detail: `Too many wrong codes; try again in ${String(left)} s.`,
      headers: { 'Retry-After': String(left) },
      members: { scope: 'user' },
    });
  }
}
