import { createHmac, hkdfSync } from 'node:crypto';
import type { OnModuleDestroy } from '@nestjs/common';
import {
  Clock,
  Database,
  newId,
  type RetentionOptions,
  type WorkerTransaction,
} from '@customer-platform/database';
import { log } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import { NETWORKS_OF_A_SITE, networkOf, siteOf } from '../passwords/network-of.js';
import { tooBusy } from '../passwords/password-pool.js';

/** So many wrong passwords are forgiven in so long, to an address and, spread over addresses, to a network. */
const MOST_WRONG = 10;
const WITHIN_MS = 15 * 60_000;
/** An office that comes to work at once: so many addresses of a network may be looked at in one moment. */
const MOST_AT_ONCE = 30;
/** Right passwords do not count, so that nobody keeps all threads busy with one: a form sent twice is looked at. */
const MOST_AT_ONCE_OF_ADDRESS = 2;
/**
 * A look takes a second; hashing waits for 5 s at most, a statement for 15 s. What is not settled by then was most likely
 * left by an instance that was killed, or by a database that was away, and keeps nobody else of its network out.
 */
const LOOKED_AT_FOR_MS = 30_000;
/** What could not be settled is tried again after these pauses, so that a database that was away locks nobody out. */
const SETTLED_AFTER_MS = [1_000, 5_000, 20_000, 60_000, 180_000];
/** So many wait for that at a time; others count until they are old. */
const MOST_SETTLED_LATER = 10_000;

const TAKE_TURNS = 'SELECT pg_advisory_xact_lock(hashtextextended($1, 0))';
const OF_ADDRESS = `
SELECT count(*)::int AS count, count(*) FILTER (WHERE pending AND tried_at > $3)::int AS looking
  FROM password_attempts WHERE address_hash = $1 AND tried_at > $2`;
const ofOrigin = (column: 'network' | 'site'): string => `
SELECT count(DISTINCT address_hash) FILTER (WHERE NOT pending)::int AS wrong,
       count(DISTINCT address_hash) FILTER (WHERE NOT pending OR tried_at > $3)::int AS all
  FROM password_attempts WHERE ${column} = $1 AND tried_at > $2`;
const OF_NETWORK = ofOrigin('network');
const OF_SITE = ofOrigin('site');
const NOTE = `
INSERT INTO password_attempts (organization_id, id, address_hash, network, site, tried_at)
VALUES ($1, $2, $3, $4, $5, $6)`;
const WRONG = 'UPDATE password_attempts SET pending = false WHERE organization_id = $1 AND id = $2';
const FORGET = 'DELETE FROM password_attempts WHERE organization_id = $1 AND id = $2';

/** What has had its time goes in pieces. */
export const OLD_ATTEMPTS: RetentionOptions = {
  name: 'password-attempts-retention',
  table: 'password_attempts',
  where: 'old.tried_at < $1',
  oldestBy: 'tried_at',
  keptMs: WITHIN_MS,
};

/** Whose password is tried, from where, by which organization's client. */
export interface Attempt {
  readonly organizationId: string;
  readonly email: string;
  readonly ip: string | undefined;
}

/** Of an address: all that count, and those that are being looked at. */
interface Tried {
  readonly count: number;
  readonly looking: number;
}

/**
 * Keeps passwords from being guessed, on all instances together. An attempt is noted as wrong before the password is
 * looked at, and forgotten when it was right: of fifty at once no more are looked at than of fifty in a row, and an
 * instance that is killed in between forgives nothing.
 */
export class PasswordAttempts implements OnModuleDestroy {
  private readonly key: Buffer;
  private readonly later = new Set<NodeJS.Timeout>();

  /** By `secret` the hashes of addresses are keyed. */
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    secret: Buffer,
  ) {
    this.key = Buffer.from(hkdfSync('sha256', secret, Buffer.alloc(0), 'identity sign-in addresses', 32));
  }

  /**
   * Runs an attempt; undefined means that the password was wrong.
   * @throws Problem `rate_limited` after too many of those, whether anybody has the address or not
   */
  async attempt<T extends object>(
    attempt: Attempt,
    look: () => Promise<T | undefined>,
  ): Promise<T | undefined> {
    const id = newId();
    await this.database.acrossOrganizations((tx) => this.note(tx, id, attempt));
    let found: T | undefined;
    try {
      found = await look();
    } catch (error) {
      // It was not looked at: nothing was learned by it. What made it fail may keep it from being forgotten, too.
      await this.settle(FORGET, attempt, id).catch(told);
      throw error;
    }
    if (found === undefined) await this.settle(WRONG, attempt, id);
    else await this.settle(FORGET, attempt, id).catch(told);
    return found;
  }

  onModuleDestroy(): void {
    for (const timer of this.later) clearTimeout(timer);
    this.later.clear();
  }

  private async note(
    tx: WorkerTransaction,
    id: string,
    { organizationId, email, ip }: Attempt,
  ): Promise<void> {
    const address = createHmac('sha256', this.key).update(email.toLowerCase()).digest();
    const [network, site] = [networkOf(ip), siteOf(ip)];
    const now = this.clock.now();
    const since = new Date(now.getTime() - WITHIN_MS);
    const looking = new Date(now.getTime() - LOOKED_AT_FOR_MS);
    await tx.query(TAKE_TURNS, [`password:${address.toString('base64')}`]);
    const [tried] = await tx.query<Tried>(OF_ADDRESS, [address, since, looking]);
    if ((tried?.count ?? 0) >= MOST_WRONG) throw tooMany();
    if ((tried?.looking ?? 0) >= MOST_AT_ONCE_OF_ADDRESS) throw tooBusy();
    if (network !== null) await demandRoom(tx, OF_NETWORK, network, [since, looking]);
    if (site !== null) await demandRoom(tx, OF_SITE, site, [since, looking], NETWORKS_OF_A_SITE);
    await tx.query(NOTE, [organizationId, id, address, network, site, now]);
  }

  /** Where it fails it is tried again later, and nobody waits for that. */
  private async settle(
    statement: string,
    attempt: Attempt,
    id: string,
    [afterMs, ...pauses]: readonly number[] = SETTLED_AFTER_MS,
  ): Promise<void> {
    try {
      await this.database.acrossOrganizations((tx) => tx.query(statement, [attempt.organizationId, id]));
    } catch (error) {
      if (afterMs !== undefined && this.later.size < MOST_SETTLED_LATER) {
        // eslint-disable-next-line house/registered-work -- the patience of one who waits for a turn
        const timer = setTimeout(() => {
          this.later.delete(timer);
          this.settle(statement, attempt, id, pauses).catch(told);
        }, afterMs);
        this.later.add(timer.unref());
      }
      throw error;
    }
  }
}

function told(error: unknown): void {
  log.warn({ err: error }, 'It could not be written down how a password attempt ended');
}

/** @throws Problem `rate_limited` where too much has come from there, of `times` as much as a network is let do */
async function demandRoom(
  tx: WorkerTransaction,
  statement: string,
  origin: string,
  since: readonly [wrong: Date, looking: Date],
  times = 1,
): Promise<void> {
  await tx.query(TAKE_TURNS, [`password-network:${origin}`]);
  const [seen] = await tx.query<{ wrong: number; all: number }>(statement, [origin, ...since]);
  const { wrong = 0, all = 0 } = seen ?? {};
  if (wrong >= MOST_WRONG * times || all >= MOST_AT_ONCE * times) throw tooMany();
}

/** The same for all, so that nobody learns from it who has an account, or who else was here. */
function tooMany(): Problem {
  return new Problem('rate_limited', {
    detail: 'Too many wrong passwords; try again in a quarter of an hour.',
    headers: { 'Retry-After': String(WITHIN_MS / 1_000) },
    members: { scope: 'user' },
  });
}
