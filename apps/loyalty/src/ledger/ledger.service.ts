import { Injectable } from '@nestjs/common';
import { ContactRefs, contactsNamedIn, withSurvivors } from '@customer-platform/contact-refs';
import { Clock, Database, type Transaction, pageOf, pageOfOwners } from '@customer-platform/database';
import type { ListQuery, Page, RequestContext } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import { sumsOf } from './available.js';
import {
  type BalanceDto,
  type ExpiringLotDto,
  type TransactionDto,
  type TransactionRow,
  toTransactionDto,
} from './transaction.dto.js';

const COLUMNS = `
  t.id, s.contact_id, t.kind, t.points, t.rule_id, t.rule_version, link.event_id, t.reverses_id, link.reason,
  link.reference, t.expires_at, t.actor_type, t.actor_id, link.occurred_at, link.correlation_id, t.created_at,
  tomb.erased_at AS tombstoned_at`;

/** All rows, erased ones included; the ledger's own order (creation) leads. */
const ALL = `
  SELECT ${COLUMNS}
    FROM transactions t
    LEFT JOIN links link ON link.organization_id = t.organization_id AND link.transaction_id = t.id
    LEFT JOIN subjects s ON s.organization_id = t.organization_id AND s.subject_ref = t.subject_ref
    LEFT JOIN tombstones tomb ON tomb.organization_id = t.organization_id AND tomb.subject_ref = t.subject_ref
   WHERE t.organization_id = $1`;

/** The rows of a subject, in the timeline's order by the index of links. */
const ofSubject = (subjectRef: string): string => `
  SELECT link.transaction_id AS id, s.contact_id, t.kind, t.points, t.rule_id, t.rule_version, link.event_id,
         t.reverses_id, link.reason, link.reference, t.expires_at, t.actor_type, t.actor_id, link.occurred_at, link.correlation_id, t.created_at,
         NULL::timestamptz AS tombstoned_at
    FROM links link
    JOIN transactions t ON t.organization_id = link.organization_id AND t.id = link.transaction_id
    JOIN subjects s ON s.organization_id = link.organization_id AND s.subject_ref = link.subject_ref
   WHERE link.organization_id = $1 AND link.subject_ref = ${subjectRef}`;

const SUBJECTS = 'SELECT subject_ref FROM subjects WHERE organization_id = $1 AND contact_id = $2';

const LINES = `
  SELECT transaction_id, lot_id, points FROM lines
   WHERE organization_id = $1 AND transaction_id = ANY($2::uuid[]) ORDER BY transaction_id, lot_id`;

const EXPIRING = `
  SELECT l.lot_id, l.remaining, l.expires_at
    FROM subjects s JOIN lot_balances l USING (organization_id, subject_ref)
   WHERE s.organization_id = $1 AND s.contact_id = $2 AND l.remaining > 0 AND l.expires_at > $3
   ORDER BY l.expires_at, l.lot_id LIMIT 100`;

/** Reads of the ledger. A merged contact's id means its survivor's ledger. */
@Injectable()
export class LedgerService {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly contacts: ContactRefs,
  ) {}

  /** @throws Problem `invalid_sort` where the order of occurrence is asked for without one contact */
  list(context: RequestContext, asked: ListQuery): Promise<Page<TransactionDto>> {
    return this.database.inOrganization(context, async (tx) => {
      const named = oneContact(asked);
      if (named !== undefined) return this.ofContact(tx, named, asked);
      const query = await this.followingMerges(tx, asked);
      const survivor = oneContact(query);
      if (survivor !== undefined) return this.ofContact(tx, survivor, query);
      refuseOccurrenceOrder(query);
      const parameters = [tx.organizationId];
      return this.withLines(tx, await pageOf<TransactionRow>(tx, ALL, query, { parameters }));
    });
  }

  /** @throws Problem `not_found` */
  get(context: RequestContext, id: string): Promise<TransactionDto> {
    return this.database.inOrganization(context, (tx) => this.read(tx, id));
  }

  /** As `get`, within a transaction. */
  async read(tx: Transaction, id: string): Promise<TransactionDto> {
    const [row] = await tx.query<TransactionRow>(`${ALL} AND t.id = $2`, [tx.organizationId, id]);
    if (row === undefined) throw new Problem('not_found');
    const [shown] = await this.shown(tx, [row]);
    return shown as TransactionDto;
  }

  /**
   * The sums of a contact that is not merged; one without transactions has zeros.
   * @param contactId as `ContactReferences.survivorOf` answered it
   */
  balance(context: RequestContext, contactId: string): Promise<BalanceDto> {
    return this.database.inOrganization(context, async (tx) => {
      const now = this.clock.now();
      const sums = (await sumsOf(tx, [contactId], now)).get(contactId) ?? { points: 0, available: 0 };
      const lots = await tx.query<{ lot_id: string; remaining: string; expires_at: Date }>(EXPIRING, [
        tx.organizationId,
        contactId,
        now,
      ]);
      const expiring = lots.map((lot): ExpiringLotDto => ({
        lot_id: lot.lot_id,
        points: Number(lot.remaining),
        expires_at: lot.expires_at.toISOString(),
      }));
      return { contact_id: contactId, ...sums, expiring, as_of: now.toISOString() };
    });
  }

  private async ofContact(
    tx: Transaction,
    contactId: string,
    asked: ListQuery,
  ): Promise<Page<TransactionDto>> {
    const query = { ...asked, filters: asked.filters.filter(({ field }) => field !== 'contact_id') };
    const refs = await this.subjectsOf(tx, contactId);
    const parameters = [tx.organizationId];
    return this.withLines(tx, await pageOfOwners<TransactionRow>(tx, ofSubject, refs, query, { parameters }));
  }

  /** Subjects stand with the survivor: a contact that has some is not merged, and need not be followed. */
  private async subjectsOf(tx: Transaction, contactId: string): Promise<string[]> {
    const own = await subjectRefsOf(tx, contactId);
    if (own.length > 0) return own;
    const survivor = (await this.contacts.ends(tx, [contactId])).get(contactId)?.id ?? contactId;
    return survivor === contactId ? [] : subjectRefsOf(tx, survivor);
  }

  /** In a filter a merged contact means its survivor. */
  private async followingMerges(tx: Transaction, query: ListQuery): Promise<ListQuery> {
    const ends = await this.contacts.ends(tx, contactsNamedIn(query));
    return withSurvivors(query, (id) => ends.get(id)?.id ?? id);
  }

  private async withLines(
    tx: Transaction,
    { data, page }: Page<TransactionRow>,
  ): Promise<Page<TransactionDto>> {
    return { data: await this.shown(tx, data), page };
  }

  private async shown(tx: Transaction, rows: readonly TransactionRow[]): Promise<TransactionDto[]> {
    if (rows.length === 0) return [];
    const lines = await tx.query<{ transaction_id: string; lot_id: string; points: string }>(LINES, [
      tx.organizationId,
      rows.map(({ id }) => id),
    ]);
    const byTransaction = Map.groupBy(lines, ({ transaction_id: id }) => id);
    return rows.map((row) =>
      toTransactionDto(
        row,
        (byTransaction.get(row.id) ?? []).map((line) => ({
          lot_id: line.lot_id,
          points: Number(line.points),
        })),
      ),
    );
  }
}

/** The contact that the list is narrowed to, if it is exactly one. */
function oneContact({ filters }: ListQuery): string | undefined {
  const [filter, ...others] = filters.filter(({ field }) => field === 'contact_id');
  if (filter === undefined || others.length > 0 || filter.values.length !== 1) return undefined;
  return String(filter.value);
}

async function subjectRefsOf(tx: Transaction, contactId: string): Promise<string[]> {
  const rows = await tx.query<{ subject_ref: string }>(SUBJECTS, [tx.organizationId, contactId]);
  return rows.map(({ subject_ref: ref }) => ref);
}

/** Order of occurrence, and the timeline's bounds, are of one contact: no index has them for a whole organization. */
function refuseOccurrenceOrder({ sort, before }: ListQuery): void {
  if (before !== undefined) {
    const detail = '`before_occurred_at` needs a `contact_id`.';
    throw Problem.validation([{ parameter: 'before_occurred_at', code: 'not_allowed', detail }]);
  }
  if (sort.some(({ field }) => field === 'occurred_at')) {
    throw Problem.validation([
      {
        parameter: 'sort',
        code: 'invalid_sort',
        detail: '`occurred_at` sorts the transactions of one `contact_id` only.',
      },
    ]);
  }
}
