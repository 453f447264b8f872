import { Controller } from '@nestjs/common';
import { Database } from '@customer-platform/database';
import type { ErasingModule } from '@customer-platform/erasure';
import { OnEvent } from '@customer-platform/event-bus';
import type { DomainEvent } from '@customer-platform/events';
import { ReceiptSignal } from './receipt.signal.js';
import { Receipts } from './receipts.js';

type Completed = DomainEvent<
  'crm.erasure.completed.v1' | 'loyalty.erasure.completed.v1' | 'messaging.erasure.completed.v1'
>;

/** What the other modules answer to an erasure. What answers one that core does not know waits parked, and is alerted. */
@Controller()
export class ReceiptsConsumer {
  constructor(
    private readonly database: Database,
    private readonly receipts: Receipts,
    private readonly signal: ReceiptSignal,
  ) {}

  @OnEvent(['crm.erasure.completed.v1', 'loyalty.erasure.completed.v1', 'messaging.erasure.completed.v1'])
  async take(events: Completed[]): Promise<void> {
    await this.database.forEachOrganization(
      events,
      ({ organizationid }) => organizationid,
      async (tx, own) => {
        const given = own.map(({ type, data }) => {
          const module = type.slice(0, type.indexOf('.')) as ErasingModule;
          const { subject_request_id: requestId, counts, receipt: signature } = data;
          return { module, requestId, counts, signature };
        });
        await this.receipts.take(tx, given);
      },
    );
    this.signal.raise();
  }
}
