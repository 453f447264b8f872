import { Injectable } from '@nestjs/common';
import type { AuditContext } from '@customer-platform/audit';
import type { WorkerTransaction } from '@customer-platform/database';
import { Outbox } from '@customer-platform/event-bus';
import { RecoveryCodesStore } from './recovery-codes.store.js';

const REMOVE = `
DELETE FROM mfa_factors WHERE user_id = $1 RETURNING organization_id, id, name, confirmed_at, created_at`;
/** A sign-in under way would say of its session that a factor was given which is none any more. */
const END_SIGN_INS = 'DELETE FROM sign_ins WHERE user_id = $1';

interface RemovedRow {
  organization_id: string;
  id: string;
  name: string;
  confirmed_at: Date | null;
  created_at: Date;
}

/** How many a user had: confirmed factors, and codes not used. */
export interface RemovedFactors {
  readonly factors: number;
  readonly recoveryCodes: number;
}

/** Takes a user's second factors away. */
@Injectable()
export class FactorRemoval {
  constructor(
    private readonly codes: RecoveryCodesStore,
    private readonly outbox: Outbox,
  ) {}

  /**
   * All of them, those not confirmed yet too, which nobody is told of, the recovery codes, and sign-ins under way, which
   * begin anew. The event of the first names them all: their user is told of them at once.
   */
  async removeAll(tx: WorkerTransaction, context: AuditContext, userId: string): Promise<RemovedFactors> {
    const recoveryCodes = await this.codes.left(tx, userId);
    await this.codes.forget(tx, userId);
    await tx.query(END_SIGN_INS, [userId]);
    const rows = await tx.query<RemovedRow>(REMOVE, [userId]);
    const confirmed = rows
      .filter(({ confirmed_at: at }) => at !== null)
      .sort((one, other) => one.created_at.getTime() - other.created_at.getTime());
    const names = confirmed.map(({ name }) => name);
    await this.outbox.append(
      tx,
      confirmed.map(({ organization_id: organizationId, id }, at) => ({
        type: 'identity.mfa_factor.removed.v1' as const,
        organizationId,
        key: userId,
        subject: `mfa-factors/${id}`,
        data: { organization_id: organizationId, id, user_id: userId, names: at === 0 ? names : [] },
        correlationId: context.correlationId,
      })),
    );
    return { factors: confirmed.length, recoveryCodes };
  }
}
