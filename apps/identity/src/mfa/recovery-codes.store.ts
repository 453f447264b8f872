import { Injectable } from '@nestjs/common';
import { Clock, newId, type WorkerTransaction } from '@customer-platform/database';
import { hashRecoveryCode, newRecoveryCode, RECOVERY_CODES } from './recovery-code.js';

const LEFT = 'SELECT count(*)::int AS count FROM recovery_codes WHERE user_id = $1 AND used_at IS NULL';
const USE = `
UPDATE recovery_codes SET used_at = $3 WHERE user_id = $1 AND code_hash = $2 AND used_at IS NULL RETURNING id`;
const FORGET = 'DELETE FROM recovery_codes WHERE user_id = $1';
const KEEP = `
INSERT INTO recovery_codes (organization_id, id, user_id, code_hash, created_at)
SELECT u.organization_id, code.id, u.id, code.hash, $4
  FROM users u, unnest($2::uuid[], $3::bytea[]) AS code (id, hash) WHERE u.id = $1`;

/** Recovery codes of users, by their hashes. */
@Injectable()
export class RecoveryCodesStore {
  constructor(private readonly clock: Clock) {}

  async left(tx: WorkerTransaction, userId: string): Promise<number> {
    const [row] = await tx.query<{ count: number }>(LEFT, [userId]);
    return row?.count ?? 0;
  }

  /** Uses a code up; its id, or undefined for one that is none or was used. */
  async use(tx: WorkerTransaction, userId: string, code: string): Promise<string | undefined> {
    const [row] = await tx.query<{ id: string }>(USE, [userId, hashRecoveryCode(code), this.clock.now()]);
    return row?.id;
  }

  /** New codes in place of all former ones; shown once, kept nowhere. */
  async replace(tx: WorkerTransaction, userId: string): Promise<string[]> {
    const codes = Array.from({ length: RECOVERY_CODES }, newRecoveryCode);
    await this.forget(tx, userId);
    await tx.query(KEEP, [userId, codes.map(() => newId()), codes.map(hashRecoveryCode), this.clock.now()]);
    return codes;
  }

  async forget(tx: WorkerTransaction, userId: string): Promise<void> {
    await tx.query(FORGET, [userId]);
  }
}
