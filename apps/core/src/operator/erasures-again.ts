import { Injectable } from '@nestjs/common';
import { Database, type Transaction } from '@customer-platform/database';
import type { ErasingModule } from '@customer-platform/erasure';
import { Outbox } from '@customer-platform/event-bus';
import { ContactLookup } from '../people/contacts/contact-lookup.js';

const PIECE = 500;

/** The modules that are asked to erase beside core. */
export const ASKED: readonly ErasingModule[] = ['crm', 'loyalty', 'messaging'];

/** One whose receipt came before that moment erased before it, too, for a receipt comes after what it says. */
const NEXT = `
  SELECT erasure.organization_id, erasure.subject_request_id, erasure.contact_id, erasure.correlation_id
    FROM contact_erasures AS erasure
   WHERE (erasure.organization_id, erasure.subject_request_id) > ($1, $2)
     AND EXISTS (SELECT FROM unnest($3::text[]) AS asked (module)
                   LEFT JOIN subject_request_receipts AS receipt
                     ON receipt.organization_id = erasure.organization_id
                    AND receipt.subject_request_id = erasure.subject_request_id AND receipt.module = asked.module
                  WHERE receipt.state IS DISTINCT FROM 'verified' OR $4::timestamptz IS NULL
                     OR receipt.received_at >= $4)
   ORDER BY erasure.organization_id, erasure.subject_request_id LIMIT ${String(PIECE)}`;

/** Which erasures are meant. */
interface AskedAgain {
  /** Those that these have not carried out, or have since. */
  readonly modules: readonly ErasingModule[];
  /** Without it all that there ever were. */
  readonly since?: Date | undefined;
}

interface ErasureRow {
  organization_id: string;
  subject_request_id: string;
  contact_id: string;
  correlation_id: string;
}

const FIRST = '00000000-0000-0000-0000-000000000000';

/**
 * Asks all modules again to erase whom they were asked to erase, after one was restored from a backup that still has them.
 * A module that has erased answers with the receipt that it gave; one that has lost its receipt erases again. Verified
 * receipts and completed requests stay as they are.
 */
@Injectable()
export class ErasuresAgain {
  constructor(
    private readonly database: Database,
    private readonly outbox: Outbox,
    private readonly lookup: ContactLookup,
  ) {}

  /** In pieces, each its own transaction: repeatable. @returns how many erasures were asked for */
  async ask({ modules, since }: AskedAgain): Promise<number> {
    let last = { organization_id: FIRST, subject_request_id: FIRST };
    let count = 0;
    let read: number;
    do {
      const rows = await this.database.acrossOrganizations(async (tx) => {
        const { organization_id: organization, subject_request_id: request } = last;
        const found = await tx.query<ErasureRow>(NEXT, [organization, request, modules, since ?? null]);
        for (const [organizationId, own] of Map.groupBy(found, (row) => row.organization_id)) {
          await tx.useOrganization(organizationId);
          await this.tell(tx, own);
        }
        return found;
      });
      read = rows.length;
      count += read;
      last = rows.at(-1) ?? last;
    } while (read === PIECE);
    return count;
  }

  private async tell(tx: Transaction, rows: readonly ErasureRow[]): Promise<void> {
    const families = await this.lookup.familiesOf(
      tx,
      rows.map((row) => row.contact_id),
    );
    await this.outbox.append(
      tx,
      rows.map((row) => ({
        type: 'core.erasure.requested.v1',
        organizationId: row.organization_id,
        key: row.contact_id,
        subject: `contacts/${row.contact_id}`,
        correlationId: row.correlation_id,
        data: {
          subject_request_id: row.subject_request_id,
          contact_id: row.contact_id,
          contact_ids: families.get(row.contact_id) ?? [row.contact_id],
        },
      })),
    );
  }
}
