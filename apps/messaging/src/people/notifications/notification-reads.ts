import { Injectable } from '@nestjs/common';
import { Clock, type Transaction } from '@customer-platform/database';

const ADVANCE = `
  INSERT INTO notification_reads AS r (organization_id, contact_id, read_until) VALUES ($1, $2, $3)
  ON CONFLICT (organization_id, contact_id) DO UPDATE SET read_until = greatest(r.read_until, excluded.read_until)`;

/** How far members have read their inbox. */
@Injectable()
export class NotificationReads {
  constructor(private readonly clock: Clock) {}

  async until(tx: Transaction, contactId: string): Promise<Date | null> {
    const [row] = await tx.query<{ read_until: Date }>(
      'SELECT read_until FROM notification_reads WHERE organization_id = $1 AND contact_id = $2',
      [tx.organizationId, contactId],
    );
    return row?.read_until ?? null;
  }

  /** Only forward, and not beyond now: what has not come yet has not been read. */
  async advance(tx: Transaction, contactId: string, until: Date): Promise<void> {
    const now = this.clock.now();
    await tx.query(ADVANCE, [tx.organizationId, contactId, until > now ? now : until]);
  }
}
