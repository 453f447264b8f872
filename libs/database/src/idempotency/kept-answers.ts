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
  SELECT key_hash, fingerprint, status, headers, body FROM idempotency_keys
   WHERE organization_id = $1 AND route = $2 AND key_hash = ANY($3::bytea[]) AND status IS NOT NULL
     AND (expires_at IS NULL OR expires_at > $4)`;

const KEEP = `
  INSERT INTO idempotency_keys
    (organization_id, route, key_hash, fingerprint, status, headers, body, created_at, expires_at)
  SELECT $1, $2, kept.*, $8, $9
    FROM unnest($3::bytea[], $4::text[], $5::smallint[], $6::jsonb[], $7::text[]) AS kept
  ON CONFLICT (organization_id, route, key_hash) DO UPDATE SET fingerprint = excluded.fingerprint,
    status = excluded.status, headers = excluded.headers, body = excluded.body,
    created_at = excluded.created_at, expires_at = excluded.expires_at`;

interface KeptRow {
  key_hash: Buffer;
  fingerprint: string;
  status: number;
  headers: Record<string, string>;
  body: string | null;
}

/** An answer to be kept. */
interface Answered {
  readonly call: IdempotentCall;
  readonly digests: CallDigests;
  readonly answer: StoredAnswer;
}

/** Answers in the table `idempotency_keys`, word for word. */
export class AnswerTable implements KeptAnswers {
  constructor(private readonly clock: Clock) {}

  async find(tx: Transaction, call: IdempotentCall, digests: CallDigests): Promise<KeptAnswer | undefined> {
    const found = await this.findAll(tx, call, [{ digests }]);
    return [...found.values()][0];
  }

  keep(tx: Transaction, call: IdempotentCall, digests: CallDigests, answer: StoredAnswer): Promise<void> {
    return this.keepAll(tx, call, [{ call, digests, answer }]);
  }

  /** Of several calls of one route, by the digest of the key in hex. */
  async findAll(
    tx: Transaction,
    { organizationId, route }: IdempotencyScope,
    calls: readonly { digests: CallDigests }[],
  ): Promise<Map<string, KeptAnswer>> {
    if (calls.length === 0) return new Map();
    const rows = await tx.prepared<KeptRow>(FIND, [
      organizationId,
      route,
      calls.map(({ digests }) => digests.key),
      this.clock.now(),
    ]);
    return new Map(rows.map((row) => [row.key_hash.toString('hex'), toKept(row)]));
  }

  /** Of several calls of one route that are kept equally long. */
  async keepAll(
    tx: Transaction,
    { organizationId, route, keep }: IdempotentCall,
    answered: readonly Answered[],
  ): Promise<void> {
    if (answered.length === 0) return;
    const now = this.clock.now();
    await tx.prepared(KEEP, [
      organizationId,
      route,
      answered.map(({ digests }) => digests.key),
      answered.map(({ digests }) => digests.body.toString('base64url')),
      answered.map(({ answer }) => answer.status),
      answered.map(({ answer }) => JSON.stringify(answer.headers)),
      answered.map(({ answer }) => (answer.body === undefined ? null : JSON.stringify(answer.body))),
      now,
      keep === 'forever' ? null : new Date(now.getTime() + DAY_MS),
    ]);
  }
}

function toKept({ fingerprint, status, headers, body }: KeptRow): KeptAnswer {
  return {
    body: Buffer.from(fingerprint, 'base64url'),
    answer: { status, headers, body: body === null ? undefined : (JSON.parse(body) as unknown) },
  };
}
