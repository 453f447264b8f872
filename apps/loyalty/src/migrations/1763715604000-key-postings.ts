import { execute } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The largest number of points that JSON carries exactly: 2^53 − 1. */
const MOST = 9_007_199_254_740_991;

/**
 * What makes postings happen once and sums stay exact: the keyed hashes of a posting's `Idempotency-Key` and body,
 * kept for ever and telling nobody whose they are; the lot that an `expire` ends, once; and bounds, so that no sum
 * ever leaves the numbers that can be told exactly.
 */
export class KeyPostings1763715604000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      `ALTER TABLE transactions
         ADD COLUMN idempotency_hash bytea,
         ADD COLUMN request_hash bytea,
         ADD COLUMN expired_lot_id uuid,
         ADD CONSTRAINT transactions_posted_once UNIQUE (organization_id, idempotency_hash),
         ADD CONSTRAINT transactions_expired_once UNIQUE (organization_id, expired_lot_id),
         ADD CONSTRAINT transactions_points_exact CHECK (points BETWEEN -${MOST} AND ${MOST} AND points <> 0),
         ADD CONSTRAINT transactions_earn_complete CHECK
           (kind <> 'earn' OR (points > 0 AND rule_id IS NOT NULL AND rule_version IS NOT NULL AND rule_event_hash IS NOT NULL)),
         ADD CONSTRAINT transactions_reverse_complete CHECK ((kind = 'reverse') = (reverses_id IS NOT NULL)),
         ADD CONSTRAINT transactions_expire_complete CHECK ((kind = 'expire') = (expired_lot_id IS NOT NULL))`,
      `ALTER TABLE lines ADD CONSTRAINT lines_points_some CHECK (points <> 0)`,
      `ALTER TABLE balances ADD CONSTRAINT balances_points_exact CHECK (points BETWEEN -${MOST} AND ${MOST})`,
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      'ALTER TABLE balances DROP CONSTRAINT balances_points_exact',
      'ALTER TABLE lines DROP CONSTRAINT lines_points_some',
      `ALTER TABLE transactions
         DROP CONSTRAINT transactions_expire_complete,
         DROP CONSTRAINT transactions_reverse_complete,
         DROP CONSTRAINT transactions_earn_complete,
         DROP CONSTRAINT transactions_points_exact,
         DROP CONSTRAINT transactions_expired_once,
         DROP CONSTRAINT transactions_posted_once,
         DROP COLUMN expired_lot_id,
         DROP COLUMN request_hash,
         DROP COLUMN idempotency_hash`,
    ]);
  }
}
