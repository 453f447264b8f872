import { createHmac, hkdfSync } from 'node:crypto';
import type { OnModuleDestroy } from '@nestjs/common';
import {
  afterLocks,
  Clock,
  Database,
  newId,
  type RetentionOptions,
  type WorkerTransaction,
} from '@customer-platform/database';
import { log } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import { NETWORKS_OF_A_SITE, networkOf, siteOf } from '../vocabulary/network-of.js';
import { tooBusy } from './password-pool.js';
import { addressForms, keptAddress } from '../vocabulary/is-email-address.js';

/**
 * So many wrong passwords are forgiven in so long, to an address and, spread over addresses, to a network. A browser or
 * network in which somebody has signed in with the address before has as many of its own: nobody elsewhere uses those up.
 */
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
/** Whoever has tries of their own has threads in common with all others. */
const OF_ADDRESS = `
SELECT count(*) FILTER (WHERE known_by IS NOT DISTINCT FROM $4)::int AS count,
       count(*) FILTER (WHERE pending AND tried_at > $3)::int AS looking
  FROM password_attempts WHERE address_hash = $1 AND tried_at > $2`;
/** A new password ends what was known by the one before: who had that knows no more than anybody. */
const CHANGED_SINCE = `
SELECT FROM users WHERE lower(email) = ANY ($1::text[]) AND deleted_at IS NULL AND password_changed_at > $2`;
/** From where somebody has signed in with a password lately. */
const SIGNED_IN_FROM = `
SELECT s.ip FROM users u JOIN sessions s ON s.user_id = u.id AND s.ip IS NOT NULL AND 'pwd' = ANY (s.amr)
 WHERE lower(u.email) = ANY ($1::text[]) AND u.deleted_at IS NULL ORDER BY s.authenticated_at DESC LIMIT 100`;
const ofOrigin = (column: 'network' | 'site'): string => `
SELECT count(DISTINCT address_hash) FILTER (WHERE NOT pending)::int AS wrong,
       count(DISTINCT address_hash) FILTER (WHERE NOT pending OR tried_at > $3)::int AS all
  FROM password_attempts WHERE ${column} = $1 AND tried_at > $2`;
const OF_NETWORK = ofOrigin('network');
const OF_SITE = ofOrigin('site');
const NOTE = `
INSERT INTO password_attempts (organization_id, id, address_hash, network, site, tried_at, known_by)
VALUES ($1, $2, $3, $4, $5, $6, $7)`;
const WRONG = 'UPDATE password_attempts SET pending = false WHERE organization_id = $1 AND id = $2';
/** Whose mailbox it is, if anybody's, is found out later, so that it tells nothing. */
const WRONG_AND_TOLD = `
WITH wrong AS (${WRONG})
INSERT INTO password_reset_requests (organization_id, id, email, correlation_id, reason)
SELECT organization_id, $3, $4, $5, 'wrong_passwords' FROM organizations WHERE parent_id IS NULL`;
const FORGET_ALL = 'DELETE FROM password_attempts WHERE address_hash = $1';
const FORGET = 'DELETE FROM password_attempts WHERE organization_id = $1 AND id = $2';

/** What has had its time goes in pieces. */
export const OLD_ATTEMPTS: RetentionOptions = {
  name: 'password-attempts-retention',
  table: 'password_attempts',
  where: 'old.tried_at < $1',
  oldestBy: 'tried_at',
  keptMs: WITHIN_MS,
};

/** A browser in which somebody has signed in with an address. */
export interface KnownBrowser {
  readonly name: string;
  /** When that was last. */
  readonly since: Date;
}

/** Whose password is tried, from where, by which organization's client. */
export interface Attempt {
  readonly organizationId: string;
  readonly email: string;
  readonly ip: string | undefined;
  /** The browser, where somebody has signed in in it with the address before. */
  readonly knownBrowser?: KnownBrowser | undefined;
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
    const whose = [attempt.organizationId, id];
    // Of a call with a key as well it counts by itself: what is refused leaves nothing else behind.
    const noting = (tx: WorkerTransaction): Promise<boolean> => this.note(tx, id, attempt);
    const isLast = await this.database.acrossOrganizations(noting, { alone: true });
    let found: T | undefined;
    try {
      found = await look();
    } catch (error) {
      // It was not looked at: nothing was learned by it. What made it fail may keep it from being forgotten, too.
      await this.settle(FORGET, whose).catch(told);
      throw error;
    }
    if (found !== undefined) await this.settle(FORGET, whose).catch(told);
    else if (isLast)
      await this.settle(WRONG_AND_TOLD, [...whose, newId(), keptAddress(attempt.email), newId()]);
    else await this.settle(WRONG, whose);
    return found;
  }

  /** Whoever has a new password is let try again, from anywhere. */
  async forget(tx: WorkerTransaction, email: string): Promise<void> {
    await tx.query(FORGET_ALL, [this.hashOf(email)]);
  }

  onModuleDestroy(): void {
    for (const timer of this.later) clearTimeout(timer);
    this.later.clear();
  }

  /** Whether it is the last that is forgiven to who comes from anywhere. */
  private async note(
    tx: WorkerTransaction,
    id: string,
    { organizationId, email, ip, knownBrowser }: Attempt,
  ): Promise<boolean> {
    const address = this.hashOf(email);
    const browser = await stillKnown(tx, email, knownBrowser);
    // A browser that is known tries its own addresses alone: it counts for no network, and none counts for it.
    const from = browser === undefined ? ip : undefined;
    const [network, site] = [networkOf(from), siteOf(from)];
    const knownBy =
      browser === undefined ? await knownNetwork(tx, email, network) : `browser ${browser.name}`;
    const turn = tx.query(TAKE_TURNS, [`password:${address.toString('base64')}`]);
    const [, now] = await afterLocks(this.clock, turn);
    const since = new Date(now.getTime() - WITHIN_MS);
    const looking = new Date(now.getTime() - LOOKED_AT_FOR_MS);
    const [tried] = await tx.query<Tried>(OF_ADDRESS, [address, since, looking, knownBy]);
    if ((tried?.count ?? 0) >= MOST_WRONG) throw tooMany();
    if ((tried?.looking ?? 0) >= MOST_AT_ONCE_OF_ADDRESS) throw tooBusy();
    if (network !== null) await demandRoom(tx, OF_NETWORK, network, [since, looking]);
    if (site !== null) await demandRoom(tx, OF_SITE, site, [since, looking], NETWORKS_OF_A_SITE);
    await tx.query(NOTE, [organizationId, id, address, network, site, now, knownBy]);
    return knownBy === null && tried?.count === MOST_WRONG - 1;
  }

  private hashOf(email: string): Buffer {
    return createHmac('sha256', this.key).update(keptAddress(email)).digest();
  }

  /** Where it fails it is tried again later, and nobody waits for that. */
  private async settle(
    statement: string,
    values: readonly unknown[],
    [afterMs, ...pauses]: readonly number[] = SETTLED_AFTER_MS,
  ): Promise<void> {
    try {
      await this.database.acrossOrganizations((tx) => tx.query(statement, [...values]), { alone: true });
    } catch (error) {
      if (afterMs !== undefined && this.later.size < MOST_SETTLED_LATER) {
        // eslint-disable-next-line house/registered-work -- the patience of one who waits for a turn
        const timer = setTimeout(() => {
          this.later.delete(timer);
          this.settle(statement, values, pauses).catch(told);
        }, afterMs);
        this.later.add(timer.unref());
      }
      throw error;
    }
  }
}

async function stillKnown(
  tx: WorkerTransaction,
  email: string,
  browser: KnownBrowser | undefined,
): Promise<KnownBrowser | undefined> {
  if (browser === undefined) return undefined;
  const changed = await tx.query(CHANGED_SINCE, [addressForms(email), browser.since]);
  return changed.length === 0 ? browser : undefined;
}

/** The network, where somebody has signed in from it with the address. */
async function knownNetwork(
  tx: WorkerTransaction,
  email: string,
  network: string | null,
): Promise<string | null> {
  if (network === null) return null;
  const rows = await tx.query<{ ip: string }>(SIGNED_IN_FROM, [addressForms(email)]);
  return rows.some(({ ip }) => networkOf(ip) === network) ? `network ${network}` : null;
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
