import type { IdempotencyScope, StoredAnswer } from '@customer-platform/http';
import type { Clock } from '../clock.js';
import type { Transaction } from '../transaction.js';

/** One call with an `Idempotency-Key`. */
export interface IdempotentCall extends IdempotencyScope {
  /** The parsed body; compared canonically, so that order and spacing do not matter. */
  body: unknown;
  /** How long the answer is kept; a day for management, for ever on sends and ledger postings. */
  keep: 'day' | 'forever';
}

/** Keyed digests of a call: all that is kept of its key and body, for both may name a person or an invoice. */
export interface CallDigests {
  readonly key: Buffer;
  readonly body: Buffer;
}

/** An answer that was given, and the digest of the body that it was given to. */
export interface KeptAnswer {
  readonly body: Buffer;
  readonly answer: StoredAnswer;
}

/** Where answers are kept: the table of keys, or the rows that the calls wrote. */
export interface KeptAnswers {
  find(tx: Transaction, call: IdempotentCall, digests: CallDigests): Promise<KeptAnswer | undefined>;
  keep(tx: Transaction, call: IdempotentCall, digests: CallDigests, answer: StoredAnswer): Promise<void>;
}

const DAY_MS = 86_400_000;

const FIND = `
  SELECT fingerprint, status, headers, body FROM idempotency_keys
   WHERE organization_id = $1 AND route = $2 AND key_hash = $3 AND status IS NOT NULL
     AND (expires_at IS NULL OR expires_at > $4)`;

const KEEP = `
  INSERT INTO idempotency_keys
    (organization_id, route, key_hash, fingerprint, status, headers, body, created_at, expires_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
  ON CONFLICT (organization_id, route, key_hash) DO UPDATE SET fingerprint = excluded.fingerprint,
    status = excluded.status, headers = excluded.headers, body = excluded.body,
    created_at = excluded.created_at, expires_at = excluded.expires_at`;

interface KeptRow {
  fingerprint: string;
  status: number;
  headers: Record<string, string>;
  body: string | null;
}

/** Answers in the table `idempotency_keys`, word for word. */
export class AnswerTable implements KeptAnswers {
  constructor(private readonly clock: Clock) {}

  async find(tx: Transaction, call: IdempotentCall, digests: CallDigests): Promise<KeptAnswer | undefined> {
    const [row] = await tx.prepared<KeptRow>(FIND, [
      call.organizationId,
      call.route,
      digests.key,
      this.clock.now(),
    ]);
    if (!row) return undefined;
    const { status, headers } = row;
    const body: unknown = row.body === null ? undefined : JSON.parse(row.body);
    return { body: Buffer.from(row.fingerprint, 'base64url'), answer: { status, headers, body } };
  }

  async keep(
    tx: Transaction,
    call: IdempotentCall,
    digests: CallDigests,
    answer: StoredAnswer,
  ): Promise<void> {
    const now = this.clock.now();
    await tx.prepared(KEEP, [
      call.organizationId,
      call.route,
      digests.key,
      digests.body.toString('base64url'),
      answer.status,
      JSON.stringify(answer.headers),
      answer.body === undefined ? null : JSON.stringify(answer.body),
      now,
      call.keep === 'forever' ? null : new Date(now.getTime() + DAY_MS),
    ]);
  }
}
