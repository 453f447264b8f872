import { Injectable } from '@nestjs/common';
import type { AuditContext } from '@customer-platform/audit';
import type { WorkerTransaction } from '@customer-platform/database';
import { Outbox } from '@customer-platform/event-bus';

const REMOVE = 'DELETE FROM mfa_factors WHERE user_id = $1 RETURNING organization_id, id, confirmed_at';

/** Takes a user's second factors away. */
@Injectable()
export class FactorRemoval {
  constructor(private readonly outbox: Outbox) {}

  /** All of them, those not confirmed yet too, which nobody is told of. */
  async removeAll(tx: WorkerTransaction, context: AuditContext, userId: string): Promise<void> {
    const rows = await tx.query<{ organization_id: string; id: string; confirmed_at: Date | null }>(REMOVE, [
      userId,
    ]);
    await this.outbox.append(
      tx,
      rows
        .filter(({ confirmed_at: confirmed }) => confirmed !== null)
        .map(({ organization_id: organizationId, id }) => ({
          type: 'identity.mfa_factor.removed.v1' as const,
          organizationId,
          key: userId,
          subject: `mfa-factors/${id}`,
          data: { organization_id: organizationId, id, user_id: userId },
          correlationId: context.correlationId,
        })),
    );
  }
}
