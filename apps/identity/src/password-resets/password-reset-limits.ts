import { Injectable } from '@nestjs/common';
import { Clock, type RetentionOptions, type WorkerTransaction } from '@customer-platform/database';
import { NETWORKS_OF_A_SITE, networkOf, siteOf } from '../vocabulary/network-of.js';

/** So many mails an hour are sent at most for one address, and for all that one network asks for (identity.md §5). */
const MOST_OF_ADDRESS = 5;
const MOST_OF_IP = 60;
const HOUR_MS = 3_600_000;

/** What was asked for longer than an hour ago counts for nothing. */
export const OLD_LIMITS: RetentionOptions = {
  name: 'password-reset-limit-retention',
  table: 'password_reset_limits',
  where: 'old.last_asked_at < $1',
  oldestBy: 'last_asked_at',
  keptMs: HOUR_MS,
};

/** Takes one, if there is one left: of those who ask at the same moment, each sees what the one before has taken. */
const TAKE = `
INSERT INTO password_reset_limits AS known (organization_id, asker, asked_at, last_asked_at)
SELECT organization_id, $1, ARRAY[$2::timestamptz], $2 FROM organizations WHERE parent_id IS NULL
ON CONFLICT (organization_id, asker) DO UPDATE
   SET asked_at = ARRAY(SELECT at FROM unnest(known.asked_at) AS at WHERE at > $3) || excluded.asked_at,
       last_asked_at = excluded.last_asked_at
 WHERE (SELECT count(*) FROM unnest(known.asked_at) AS at WHERE at > $3) < $4
RETURNING 1`;

/** Keeps a mailbox from being filled and addresses from being tried out, whether or not anybody has them. */
@Injectable()
export class PasswordResetLimits {
  constructor(private readonly clock: Clock) {}

  /** Whether one more may be sent; if so, it counts. */
  async take(tx: WorkerTransaction, address: string, ip: string | undefined): Promise<boolean> {
    const now = this.clock.now();
    const since = new Date(now.getTime() - HOUR_MS);
    const site = siteOf(ip);
    const limits: (readonly [asker: string, most: number])[] = [
      [`ip ${networkOf(ip) ?? 'unknown'}`, MOST_OF_IP],
      ...(site === null ? [] : [[`ip ${site}`, MOST_OF_IP * NETWORKS_OF_A_SITE] as const]),
      [`email ${address}`, MOST_OF_ADDRESS],
    ];
    for (const [asker, most] of limits) {
      const taken = await tx.query(TAKE, [asker, now, since, most]);
      if (taken.length === 0) return false;
    }
    return true;
  }
}
