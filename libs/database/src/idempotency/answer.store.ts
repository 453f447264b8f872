import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import {
  turns,
  type AnswerToKeep,
  type IdempotencyClaim,
  type IdempotencyScope,
  type IdempotencyStore,
} from '@customer-platform/http';
import { Clock } from '../clock.js';
import { Database } from '../database.js';
import { newId } from '../ids.js';
import type { RetentionOptions } from '../jobs/retention.js';
import { inProgress } from './idempotent-call.js';

/** A claim whose process died is kept this much longer than its lease, so that its owner may still find it lost. */
const CLAIM_REST_MS = 86_400_000;

/** Each is a holder that released it since. */
const TURNS = 20;

/** Takes the key if it is new, if its lease has run out without an answer, or if its answer's day is over. */
const CLAIM = `
  INSERT INTO idempotency_keys AS held
    (organization_id, route, key_hash, fingerprint, claim_id, lease_until, created_at, expires_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
  ON CONFLICT (organization_id, route, key_hash) DO UPDATE
    SET fingerprint = excluded.fingerprint, claim_id = excluded.claim_id, lease_until = excluded.lease_until,
        created_at = excluded.created_at, expires_at = excluded.expires_at, status = NULL, headers = '{}', body = NULL
    WHERE (held.status IS NULL AND held.lease_until <= $7) OR held.expires_at <= $7
  RETURNING claim_id`;

const ANSWER = `
  UPDATE idempotency_keys SET status = $5, headers = $6, body = $7, expires_at = $8
   WHERE organization_id = $1 AND route = $2 AND key_hash = $3 AND claim_id = $4 RETURNING claim_id`;

/** Claims and answers that nobody may ask for any more. */
export const EXPIRED_ANSWERS: RetentionOptions = {
  name: 'idempotency-retention',
  table: 'idempotency_keys',
  where: 'old.expires_at < $1',
  keptMs: 0,
};

/** The answers of management POSTs, which libs/http claims, keeps and replays. */
@Injectable()
export class AnswerStore implements IdempotencyStore {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /** Of several at once exactly one is told `claimed`: the insert of the others waits for its commit. */
  async claim(scope: IdempotencyScope, fingerprint: string, leaseMs: number): Promise<IdempotencyClaim> {
    for await (const _ of turns({ most: TURNS })) {
      const claimId = newId();
      const found = await this.database.inOrganization(
        scope,
        async (tx): Promise<IdempotencyClaim | undefined> => {
          const now = this.clock.now().getTime();
          const [mine] = await tx.query(CLAIM, [
            ...keyOf(scope),
            fingerprint,
            claimId,
            new Date(now + leaseMs),
            new Date(now),
            new Date(now + leaseMs + CLAIM_REST_MS),
          ]);
          if (mine) return { state: 'claimed', claimId };
          const [row] = await tx.query<HeldRow>(
            `SELECT fingerprint, status, headers, body FROM idempotency_keys
           WHERE organization_id = $1 AND route = $2 AND key_hash = $3`,
            keyOf(scope),
          );
          return row && heldState(row);
        },
      );
      // Nothing found means that its holder released it in between: the next try takes it.
      if (found) return found;
    }
    throw inProgress();
  }

  /** The claim is looked at by the statement that answers it: one that was lost to another takes the effect back. */
  perform<T>(
    scope: IdempotencyScope,
    claimId: string,
    run: () => Promise<T>,
    { of, keepMs }: AnswerToKeep<T>,
  ): Promise<T> {
    return this.database.answered(run, async (tx, result) => {
      const { status, headers, body } = of(result);
      const kept = body === undefined ? null : JSON.stringify(body);
      const expiresAt = new Date(this.clock.now().getTime() + keepMs);
      await tx.useOrganization(scope.organizationId);
      const mine = await tx.query(ANSWER, [
        ...keyOf(scope),
        claimId,
        status,
        JSON.stringify(headers),
        kept,
        expiresAt,
      ]);
      if (mine.length === 0) throw inProgress();
    });
  }

  /** Forgets a claim whose operation was refused. */
  async release(scope: IdempotencyScope, claimId: string): Promise<void> {
    await this.database.inOrganization(scope, (tx) =>
      tx.query(
        `DELETE FROM idempotency_keys
         WHERE organization_id = $1 AND route = $2 AND key_hash = $3 AND claim_id = $4 AND status IS NULL`,
        [...keyOf(scope), claimId],
      ),
    );
  }
}

interface HeldRow {
  fingerprint: string;
  status: number | null;
  headers: Record<string, string>;
  body: string | null;
}

function heldState(row: HeldRow): IdempotencyClaim {
  const { fingerprint, status, headers, body } = row;
  if (status === null) return { state: 'in_progress', fingerprint };
  const parsed: unknown = body === null ? undefined : JSON.parse(body);
  return { state: 'answered', fingerprint, answer: { status, headers, body: parsed } };
}

function keyOf(scope: IdempotencyScope): [string, string, Buffer] {
  return [scope.organizationId, scope.route, keyHash(scope.key)];
}

/** What a key is kept as: callers put invoice numbers and worse into keys. */
function keyHash(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}
