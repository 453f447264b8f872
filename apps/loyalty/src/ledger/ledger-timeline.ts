import { Injectable } from '@nestjs/common';
import type { TimelineSource } from '@customer-platform/authorization';
import { Database, type OrganizationScope, uuids } from '@customer-platform/database';
import {
  listOfPart,
  TIMELINE_START,
  type AskedPart,
  type AskedTimeline,
  type TimelinePart,
} from '@customer-platform/http';
import { LedgerService, linesOf, ofSubject, SUBJECTS, withOwnLines } from './ledger.service.js';
import { TRANSACTIONS_LIST, type LineOfRow, type TransactionRow } from './transaction.dto.js';

/** The subject of a contact that has one. */
const SUBJECT = `(
    SELECT subject_ref FROM subjects WHERE organization_id = $1 AND contact_id = $2 ORDER BY subject_ref LIMIT 1)`;

const ITS_NEWEST = `AND (link.occurred_at, link.transaction_id) < ($3::timestamptz, $4::uuid)
   ORDER BY link.occurred_at DESC, link.transaction_id DESC LIMIT $5`;

/** Along the index of a subject's links. */
const NEWEST = `${ofSubject(SUBJECT)} ${ITS_NEWEST}`;

const LINES_OF_NEWEST = linesOf(`(
    SELECT link.transaction_id FROM links link
     WHERE link.organization_id = $1 AND link.subject_ref = ${SUBJECT} ${ITS_NEWEST})`);

const MERGED = `SELECT id FROM contact_refs WHERE organization_id = $1 AND id = $2 AND state = 'merged'`;

/**
 * Loyalty's part of a timeline: the movements of a contact's points. One whose points stand under several subjects, or with
 * a survivor, is read by the list.
 */
@Injectable()
export class LedgerTimeline implements TimelineSource {
  readonly path = '/v1/loyalty/transactions';
  readonly permissions = { transaction: 'loyalty.transactions.read' } as const;

  constructor(
    private readonly database: Database,
    private readonly ledger: LedgerService,
  ) {}

  async read(where: OrganizationScope, asked: AskedTimeline): Promise<Record<string, TimelinePart>> {
    const { transaction } = asked.parts;
    return transaction ? { transaction: await this.transactions(where, asked, transaction) } : {};
  }

  private async transactions(
    where: OrganizationScope,
    asked: AskedTimeline,
    part: AskedPart,
  ): Promise<TimelinePart> {
    const { contactId, limit } = asked;
    const { occurredAt, id } = part.after ?? TIMELINE_START;
    const [subjects, merged, rows, lines] = await this.database.atOnce(
      where,
      (tx) =>
        [
          tx.prepared<{ subject_ref: string }>(SUBJECTS, [tx.organizationId, uuids([contactId])]),
          tx.prepared<{ id: string }>(MERGED, [tx.organizationId, contactId]),
          tx.prepared<TransactionRow>(NEWEST, [tx.organizationId, contactId, occurredAt, id, limit + 1]),
          tx.prepared<LineOfRow>(LINES_OF_NEWEST, [tx.organizationId, contactId, occurredAt, id, limit]),
        ] as const,
      { byKeys: true },
    );
    if (subjects.length > 1 || (subjects.length === 0 && merged.length > 0)) {
      const { data, page } = await this.ledger.list(where, listOfPart(asked, part, TRANSACTIONS_LIST));
      return { status: 200, items: data, more: page.next_cursor !== null };
    }
    return { status: 200, items: withOwnLines(rows.slice(0, limit), lines), more: rows.length > limit };
  }
}
