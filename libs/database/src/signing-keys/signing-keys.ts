import { Injectable } from '@nestjs/common';
import { log } from '@customer-platform/http';
import {
  calculateJwkThumbprint,
  exportJWK,
  generateKeyPair,
  importJWK,
  type CryptoKey,
  type JWK,
} from 'jose';
import { afterLocks, Clock } from '../clock.js';
import { Database } from '../database.js';
import type { WorkerTransaction } from '../transaction.js';
import { KeySeal } from './key-seal.js';

/** A key to sign with, or to verify by. `kid` is the RFC 7638 thumbprint of its public half. */
export interface SigningKey {
  readonly kid: string;
  readonly privateKey: CryptoKey;
  readonly publicKey: CryptoKey;
}

/** The algorithm of these keys unless another is named (RFC 7518 §3.4). */
export const SIGNING_ALGORITHM = 'ES256';

/** What keys can be made for; each purpose has one. */
export type SigningAlgorithm = typeof SIGNING_ALGORITHM | 'RS256';

/** A key is replaced after so long … */
const ROTATE_AFTER_MS = 90 * 86_400_000;
/** … by one that is shown for a day before it signs (identity.md §7), for those who keep what they were shown. */
const SHOWN_BEFORE_MS = 86_400_000;
/** How long what the table says is taken without another look: a key that is retired is dead after so long. */
const REMEMBERED_MS = 1_000;
/** An id that the table did not have is looked for again so often at most, whoever sends made-up ones. */
const LOOKED_FOR_AGAIN_MS = 100;
/** First of the two numbers of the advisory lock under which a key is made. */
const LOCK_SPACE = 0x6b657973;

/** Down to the one that signs now: however many wait for their time, none of them does before it. */
const NEWEST = `
  SELECT kid, purpose, sealed_private_key, usable_from, created_at FROM signing_keys
   WHERE purpose = $1
     AND usable_from >= coalesce((SELECT max(usable_from) FROM signing_keys WHERE purpose = $1 AND usable_from <= $2),
                                 '-infinity')
   ORDER BY usable_from DESC`;

const BY_ID = `
  SELECT kid, purpose, sealed_private_key, usable_from, created_at FROM signing_keys WHERE kid = $1 AND purpose = $2`;

/** A key signs until the next one may. */
const SHOWN = `
  SELECT kid, purpose, sealed_private_key, usable_from, created_at
    FROM (SELECT *, lead(usable_from) OVER (ORDER BY usable_from) AS replaced_at
            FROM signing_keys WHERE purpose = $1) AS key
   WHERE replaced_at IS NULL OR replaced_at > $2 ORDER BY usable_from`;

const ALL = `
  SELECT kid, purpose, sealed_private_key, usable_from, created_at FROM signing_keys WHERE purpose = $1
   ORDER BY usable_from`;

const IDS = 'SELECT kid FROM signing_keys WHERE purpose = $1';

const RETIRE = 'DELETE FROM signing_keys WHERE kid = $1 AND purpose = $2';

const INSERT = `
  INSERT INTO signing_keys (kid, purpose, public_key, sealed_private_key, usable_from, created_at)
  VALUES ($1, $2, $3, $4, $5, $6)`;

interface KeyRow {
  kid: string;
  purpose: string;
  sealed_private_key: string;
  usable_from: Date;
  created_at: Date;
}

/** The ids of a purpose's keys, as the table had them a moment ago. */
interface KeyList {
  ids: ReadonlySet<string>;
  readAt: number;
  reading?: Promise<void>;
}

/** A key as an operator sees it. */
interface ListedKey {
  readonly kid: string;
  /** The one that signs now, one that will, or one that only verifies. */
  readonly state: 'next' | 'signing' | 'verifying';
  readonly usableFrom: Date;
  readonly createdAt: Date;
}

/**
 * The keys of a module, each for one purpose, shared by all its processes through the database. What is trusted is the seal: a key that
 * does not open under `ENCRYPTION_KEY` is none, whoever wrote its row.
 */
@Injectable()
export class SigningKeys {
  private readonly current = new Map<string, { key: Promise<SigningKey>; until: number }>();
  private readonly known = new Map<string, Promise<SigningKey | undefined>>();
  private readonly lists = new Map<string, KeyList>();

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly seal: KeySeal,
  ) {}

  /** The key to sign with now; the first of a purpose is made when it is asked for. */
  async toSign(purpose: string, algorithm: SigningAlgorithm = SIGNING_ALGORITHM): Promise<SigningKey> {
    const now = this.clock.now().getTime();
    const known = this.current.get(purpose);
    if (known && now < known.until) return known.key;
    const key = this.readCurrent(purpose, algorithm);
    this.current.set(purpose, { key, until: now + REMEMBERED_MS });
    key.catch(() => this.current.delete(purpose));
    return key;
  }

  /** The key of this id, if it is one of this purpose; keys are kept until they are retired. */
  async toVerify(purpose: string, kid: string): Promise<SigningKey | undefined> {
    if (!(await this.isThere(purpose, kid))) return undefined;
    const name = `${purpose} ${kid}`;
    const known = this.known.get(name);
    if (known) return known;
    const found = this.database.acrossOrganizations(async (tx) => {
      const [row] = await tx.query<KeyRow>(BY_ID, [kid, purpose]);
      return row && this.openIfOurs(row);
    });
    this.known.set(name, found);
    // What is not there may come, and whoever sends ids of keys that are none must not fill the memory.
    found.then(
      (key) => key ?? this.known.delete(name),
      () => this.known.delete(name),
    );
    return found;
  }

  /** Public JWKs that verify the purpose's signatures: the keys that sign, signed within `forMs`, or will sign next. */
  async shown(
    purpose: string,
    forMs: number,
    algorithm: SigningAlgorithm = SIGNING_ALGORITHM,
  ): Promise<JWK[]> {
    const rows = await this.rowsShown(purpose, forMs, algorithm);
    const keys = await Promise.all(rows.map((row) => this.openIfOurs(row)));
    return Promise.all(
      keys
        .filter((key) => key !== undefined)
        .map(async ({ kid, publicKey }) => ({
          ...(await exportJWK(publicKey)),
          kid,
          alg: algorithm,
          use: 'sig',
        })),
    );
  }

  /** The same with their private halves, the one that signs now first; for a library that signs by itself. */
  async held(purpose: string, forMs: number, algorithm: SigningAlgorithm): Promise<JWK[]> {
    const rows = await this.rowsShown(purpose, forMs, algorithm);
    const now = this.clock.now();
    const signing = rows.findLast(({ usable_from: from }) => from <= now) ?? rows[0];
    const held = await Promise.all(
      rows.map(async (row) => ((await this.openIfOurs(row)) === undefined ? undefined : row)),
    );
    const known = held.filter((row) => row !== undefined);
    return [...known.filter((row) => row === signing), ...known.filter((row) => row !== signing)].map(
      (row) => ({
        ...this.jwkOf(row),
        kid: row.kid,
        alg: algorithm,
        use: 'sig',
      }),
    );
  }

  /** All keys of a purpose, the newest last. */
  async list(purpose: string): Promise<ListedKey[]> {
    const now = this.clock.now();
    const rows = await this.database.acrossOrganizations((tx) => tx.query<KeyRow>(ALL, [purpose]));
    const signing = rows.findLast(({ usable_from }) => usable_from <= now) ?? rows[0];
    return rows.map((row) => ({
      kid: row.kid,
      state: row === signing ? 'signing' : row.usable_from > now ? 'next' : 'verifying',
      usableFrom: row.usable_from,
      createdAt: row.created_at,
    }));
  }

  /** Makes another key, which signs after `afterMs`; the former go on verifying. @returns its id */
  async rotate(
    purpose: string,
    afterMs = SHOWN_BEFORE_MS,
    algorithm: SigningAlgorithm = SIGNING_ALGORITHM,
  ): Promise<string> {
    return this.database.acrossOrganizations(async (tx) => {
      await tx.query('SELECT pg_advisory_xact_lock($1, hashtext($2))', [LOCK_SPACE, purpose]);
      return (await this.make(tx, { purpose, algorithm }, afterMs, this.clock.now())).kid;
    });
  }

  /**
   * Takes a key away for good: within {@link REMEMBERED_MS} nothing that it signed verifies in any process.
   * @returns false when there is no such key
   * @throws Error when no other key of the purpose may sign yet
   */
  async retire(purpose: string, kid: string): Promise<boolean> {
    return this.database.acrossOrganizations(async (tx) => {
      await tx.query('SELECT pg_advisory_xact_lock($1, hashtext($2))', [LOCK_SPACE, purpose]);
      const rows = await tx.query<KeyRow>(ALL, [purpose]);
      if (!rows.some((row) => row.kid === kid)) return false;
      const now = this.clock.now();
      if (!rows.some((row) => row.kid !== kid && row.usable_from <= now))
        throw new Error('No other key may sign yet: make one first, and wait until it signs.');
      await tx.query(RETIRE, [kid, purpose]);
      return true;
    });
  }

  private async isThere(purpose: string, kid: string): Promise<boolean> {
    const list = this.lists.get(purpose) ?? { ids: new Set(), readAt: -Infinity };
    this.lists.set(purpose, list);
    const age = this.clock.now().getTime() - list.readAt;
    if (list.ids.has(kid) ? age >= REMEMBERED_MS : age >= LOOKED_FOR_AGAIN_MS) {
      list.reading ??= this.readIds(purpose, list).finally(() => delete list.reading);
      await list.reading;
    }
    return list.ids.has(kid);
  }

  private async readIds(purpose: string, list: KeyList): Promise<void> {
    const readAt = this.clock.now().getTime();
    const rows = await this.database.acrossOrganizations((tx) =>
      tx.query<Pick<KeyRow, 'kid'>>(IDS, [purpose]),
    );
    list.ids = new Set(rows.map(({ kid }) => kid));
    list.readAt = readAt;
    for (const name of this.known.keys()) {
      const [of, kid = ''] = name.split(' ');
      if (of === purpose && !list.ids.has(kid)) this.known.delete(name);
    }
  }

  private async rowsShown(purpose: string, forMs: number, algorithm: SigningAlgorithm): Promise<KeyRow[]> {
    const since = new Date(this.clock.now().getTime() - forMs);
    await this.toSign(purpose, algorithm); // the first key of a purpose is there before anybody asks what verifies
    return this.database.acrossOrganizations((tx) => tx.query<KeyRow>(SHOWN, [purpose, since]));
  }

  private readCurrent(purpose: string, algorithm: SigningAlgorithm): Promise<SigningKey> {
    const reading = async (tx: WorkerTransaction): Promise<SigningKey> => {
      let now = this.clock.now();
      let rows = await tx.query<KeyRow>(NEWEST, [purpose, now]);
      if (needsAnother(rows, now)) {
        const lock = tx.query('SELECT pg_advisory_xact_lock($1, hashtext($2))', [LOCK_SPACE, purpose]);
        [, now] = await afterLocks(this.clock, lock);
        rows = await tx.query<KeyRow>(NEWEST, [purpose, now]);
        // The first signs at once: there is nobody yet who could have kept what was shown.
        const afterMs = rows.length > 0 ? SHOWN_BEFORE_MS : 0;
        if (needsAnother(rows, now)) rows.unshift(await this.make(tx, { purpose, algorithm }, afterMs, now));
      }
      const row = rows.find(({ usable_from }) => usable_from <= now) ?? rows.at(-1);
      if (!row) throw new Error(`There is no key for ${purpose}`);
      return this.open(row);
    };
    // It is everybody's, whatever the call comes to that needed it first.
    return this.database.acrossOrganizations(reading, { alone: true });
  }

  private async make(
    tx: WorkerTransaction,
    { purpose, algorithm }: { purpose: string; algorithm: SigningAlgorithm },
    afterMs: number,
    now: Date,
  ): Promise<KeyRow> {
    const { publicKey, privateKey } = await generateKeyPair(algorithm, { extractable: true });
    const [publicJwk, privateJwk] = await Promise.all([exportJWK(publicKey), exportJWK(privateKey)]);
    const kid = await calculateJwkThumbprint(publicJwk);
    const row: KeyRow = {
      kid,
      purpose,
      sealed_private_key: this.seal.seal(placeOfSigningKey(purpose, kid), JSON.stringify(privateJwk)),
      usable_from: new Date(now.getTime() + afterMs),
      created_at: now,
    };
    const shown = { ...publicJwk, kid, alg: algorithm, use: 'sig' };
    await tx.query(INSERT, [kid, purpose, shown, row.sealed_private_key, row.usable_from, row.created_at]);
    return row;
  }

  private async openIfOurs(row: KeyRow): Promise<SigningKey | undefined> {
    try {
      return await this.open(row);
    } catch (error) {
      log.error(
        { err: error, kid: row.kid },
        'A signing key does not open: it was altered, or sealed by another',
      );
      return undefined;
    }
  }

  private async open(row: KeyRow): Promise<SigningKey> {
    const jwk = this.jwkOf(row);
    const algorithm: SigningAlgorithm = jwk.kty === 'RSA' ? 'RS256' : SIGNING_ALGORITHM;
    const [privateKey, publicKey] = await Promise.all([
      importJWK(jwk, algorithm) as Promise<CryptoKey>,
      importJWK(publicHalf(jwk), algorithm, { extractable: true }) as Promise<CryptoKey>,
    ]);
    return { kid: row.kid, privateKey, publicKey };
  }

  private jwkOf({ kid, purpose, sealed_private_key: sealed }: KeyRow): JWK {
    return JSON.parse(this.seal.open(placeOfSigningKey(purpose, kid), sealed)) as JWK;
  }
}

function publicHalf({ kty, crv, x, y, e, n }: JWK): JWK {
  return JSON.parse(JSON.stringify({ kty, crv, x, y, e, n })) as JWK;
}

function needsAnother(rows: readonly KeyRow[], now: Date): boolean {
  const [newest] = rows;
  return !newest || now.getTime() - newest.created_at.getTime() > ROTATE_AFTER_MS;
}

/** The purpose for which a module's signing keys are sealed. */
export function sealOfSigningKeys(module: string): string {
  return `${module} signing keys at rest`;
}

/** Where a private key belongs; part of what it is sealed with. */
export function placeOfSigningKey(purpose: string, kid: string): string {
  return `${purpose}\n${kid}`;
}
