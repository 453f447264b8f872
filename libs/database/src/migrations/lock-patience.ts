import { setTimeout as wait } from 'node:timers/promises';
import { log } from '@customer-platform/http';
import { postgresFailure } from '../errors.js';

/** How migrations go about tables that are in use. */
export interface LockPatience {
  /** For how long a statement waits for a lock: whoever comes after it to the table waits as long. */
  lockTimeoutMs: number;
  /** How often a migration begins before it is given up. */
  tries: number;
  /** What lies between two tries: then all others get at the table. */
  pause: () => Promise<void>;
}

/** About five minutes in all, of which others never wait longer than three seconds at a time. */
export const LOCK_PATIENCE: LockPatience = { lockTimeoutMs: 3_000, tries: 40, pause: () => wait(5_000) };

/** Lock timeout, deadlock: the same migration may well pass the next time. */
const CONTENDED = /^(55P03|40P01)$/;

/**
 * Runs `work` anew while others hold what it needs to lock. A migration that waited for a lock without end would have
 * all later queries of the table wait behind it. `next` names the migration that is the next to run.
 * @throws Error that says what to do, once all tries are used up; other errors as they come
 */
export async function withLockPatience(
  { lockTimeoutMs, tries, pause }: LockPatience,
  next: () => Promise<string | undefined>,
  work: () => Promise<unknown>,
): Promise<void> {
  // What got through begins the count anew: it is of one migration.
  // eslint-disable-next-line house/no-endless-turns -- counted below for each migration, of which there are so many
  for (let attempt = 1, former: string | undefined; ; attempt += 1) {
    try {
      await work();
      return;
    } catch (error) {
      if (!CONTENDED.test(postgresFailure(error)?.code ?? '')) throw error;
      const migration = await next();
      if (migration !== former) attempt = 1;
      former = migration;
      if (attempt >= tries) {
        throw new Error(
          `Migration ${migration ?? ''} found its tables locked ${String(tries)} times, ${String(lockTimeoutMs)} ms ` +
            'each, and gave up. Find the transaction that holds them (the oldest xact_start in pg_stat_activity), let ' +
            'it end, and run the migrations again: they go on where they stopped.',
          { cause: error },
        );
      }
      log.warn({ migration, attempt, tries }, 'A migration found its tables locked and tries again');
      await pause();
    }
  }
}
