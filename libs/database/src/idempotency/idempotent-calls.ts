import { createHmac } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { canonicalJson, type IdempotencyScope, type StoredAnswer } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import type { Clock } from '../clock.js';
import type { Database } from '../database.js';
import type { Transaction } from '../transaction.js';

/** One call with an `Idempotency-Key`. */
export interface IdempotentCall extends IdempotencyScope {
  /** The parsed body; compared canonically, so that order and spacing do not matter. */
  body: unknown;
  /** How long the answer is kept; a day for management, for ever on sends and ledger postings. */
  keep: 'day' | 'forever';
}

/** The answer, and whether it was given before: then it goes out with `Idempotent-Replay: true`. */
export interface IdempotentAnswer extends StoredAnswer {
  replayed: boolean;
}

const DAY_MS = 86_400_000;
/** Contract §2: a concurrent call waits this long before 409 `idempotency_in_progress`. */
const PATIENCE_MS = 5_000;
const POLL_MS = 40;

/**
 * Calls whose key counts for ever, or whose effect must not happen twice even if the process dies between effect
 * and answer: both commit in one transaction, so a crash leaves both or neither.
 */
export class IdempotentCalls {
  /**
   * @param secret keys the digests under which keys and bodies are kept, for both may name a person or an invoice;
   * it must never change while answers are kept for ever
   */
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly secret: string,
  ) {}

  /**
   * Performs the call once. `perform` runs inside a transaction that its own `inOrganization` calls join; if it
   * throws, nothing is kept. `remember` says what of the answer is kept (secrets shown once are left out).
   * @throws Problem `idempotency_key_reused` (422), `idempotency_in_progress` (409), or what `perform` threw
   */
  async run(
    call: IdempotentCall,
    perform: () => Promise<StoredAnswer>,
    remember: (answer: StoredAnswer) => StoredAnswer = (answer) => answer,
  ): Promise<IdempotentAnswer> {
    const giveUpAt = performance.now() + PATIENCE_MS;
    for (;;) {
      const answer = await this.attempt(call, perform, remember);
      if (answer) return answer;
      // No connection is held while waiting, or a few repeated calls would drain the pool.
      if (performance.now() >= giveUpAt)
        throw new Problem('idempotency_in_progress', { headers: { 'Retry-After': '1' } });
      await pause(POLL_MS);
    }
  }

  private attempt(
    call: IdempotentCall,
    perform: () => Promise<StoredAnswer>,
    remember: (answer: StoredAnswer) => StoredAnswer,
  ): Promise<IdempotentAnswer | undefined> {
    return this.database.joined(call, async (tx) => {
      if (!(await claim(tx, call))) return undefined;
      const known = await this.find(tx, call);
      if (known) return known;
      const answer = await perform();
      await this.keep(tx, call, remember(answer));
      return { ...answer, replayed: false };
    });
  }

  private async find(tx: Transaction, call: IdempotentCall): Promise<IdempotentAnswer | undefined> {
    const [row] = await tx.query<KeptRow>(
      `SELECT fingerprint, status, headers, body FROM idempotency_keys
       WHERE organization_id = $1 AND route = $2 AND key_hash = $3 AND status IS NOT NULL AND (expires_at IS NULL OR expires_at > $4)`,
      [call.organizationId, call.route, this.keyHash(call.key), this.clock.now()],
    );
    if (!row) return undefined;
    if (row.fingerprint !== this.fingerprintOf(call.body)) throw new Problem('idempotency_key_reused');
    const body: unknown = row.body === null ? undefined : JSON.parse(row.body);
    return { status: row.status, headers: row.headers, body, replayed: true };
  }

  private async keep(tx: Transaction, call: IdempotentCall, answer: StoredAnswer): Promise<void> {
    const now = this.clock.now();
    await tx.query(
      `INSERT INTO idempotency_keys
         (organization_id, route, key_hash, fingerprint, status, headers, body, created_at, expires_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
       ON CONFLICT (organization_id, route, key_hash) DO UPDATE SET fingerprint = excluded.fingerprint,
         status = excluded.status, headers = excluded.headers, body = excluded.body,
         created_at = excluded.created_at, expires_at = excluded.expires_at`,
      [
        call.organizationId,
        call.route,
        this.keyHash(call.key),
        this.fingerprintOf(call.body),
        answer.status,
        JSON.stringify(answer.headers),
        answer.body === undefined ? null : JSON.stringify(answer.body),
        now,
        call.keep === 'forever' ? null : new Date(now.getTime() + DAY_MS),
      ],
    );
  }

  private keyHash(key: string): Buffer {
    return createHmac('sha256', this.secret).update(`key ${key}`).digest();
  }

  private fingerprintOf(body: unknown): string {
    return createHmac('sha256', this.secret)
      .update(`body ${canonicalJson(body ?? null)}`)
      .digest('base64url');
  }
}

interface KeptRow {
  fingerprint: string;
  status: number;
  headers: Record<string, string>;
  body: string | null;
}

/** Whether this transaction is the one to perform the call; another holds the key until it ends. */
async function claim(tx: Transaction, call: IdempotentCall): Promise<boolean> {
  const scope = `idempotency:${call.organizationId}:${call.route}:${call.key}`;
  const [row] = await tx.query<{ mine: boolean }>(
    'SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0)) AS mine',
    [scope],
  );
  return row?.mine ?? false;
}
