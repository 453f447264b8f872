import { Injectable } from '@nestjs/common';
import { ContactRefs } from '@customer-platform/contact-refs';
import {
  Clock,
  Database,
  type OrganizationScope,
  type Transaction,
  pageOf,
  pageOfOwners,
} from '@customer-platform/database';
import type { ListQuery, Page, RequestContext } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import { sumsOf } from './available.js';
import { isWalk, walkPage } from './ledger-walk.js';
import {
  type BalanceDto,
  type ExpiringLotDto,
  type LineDto,
  type LineOfRow,
  type LineRow,
  toLineDto,
  type TransactionDto,
  type TransactionRow,
  toTransactionDto,
} from './transaction.dto.js';

/** So many lines are shown with their transaction; all of them are a list of their own. */
const MOST_LINES = 100;

const COLUMNS = `
  t.id, s.contact_id, t.kind, t.points, t.rule_id, t.rule_version, link.event_id, t.reverses_id, link.reason,
  link.reference, t.expires_at, t.actor_type, t.actor_id, link.occurred_at, link.correlation_id, t.created_at,
  tomb.erased_at AS tombstoned_at`;

/** Rows of the ledger, erased ones included; the ledger's own order (creation) leads. */
const rowsOf = (transactions: string): string => `
  SELECT ${COLUMNS}
    FROM ${transactions} AS t
    LEFT JOIN links link ON link.organization_id = t.organization_id AND link.transaction_id = t.id
    LEFT JOIN subjects s ON s.organization_id = t.organization_id AND s.subject_ref = t.subject_ref
    LEFT JOIN tombstones tomb ON tomb.organization_id = t.organization_id AND tomb.subject_ref = t.subject_ref
   WHERE t.organization_id = $1`;

const ALL = rowsOf('transactions');

/** The rows of a subject, in the timeline's order by the index of links. */
export const ofSubject = (subjectRef: string): string => `
  SELECT link.transaction_id AS id, s.contact_id, t.kind, t.points, t.rule_id, t.rule_version, link.event_id,
         t.reverses_id, link.reason, link.reference, t.expires_at, t.actor_type, t.actor_id, link.occurred_at, link.correlation_id, t.created_at,
         NULL::timestamptz AS tombstoned_at
    FROM links link
    JOIN transactions t ON t.organization_id = link.organization_id AND t.id = link.transaction_id
    JOIN subjects s ON s.organization_id = link.organization_id AND s.subject_ref = link.subject_ref
   WHERE link.organization_id = $1 AND link.subject_ref = ${subjectRef}`;

/** The subjects of contacts. */
export const SUBJECTS =
  'SELECT subject_ref FROM subjects WHERE organization_id = $1 AND contact_id = ANY($2::uuid[])';

/** Selects the first lines of each of these transactions, by lot, and how many there are. */
export const linesOf = (transactions: string): string => `
  SELECT asked.id AS transaction_id, line.lot_id, line.points, line.count
    FROM ${transactions} AS asked (id)
   CROSS JOIN LATERAL (
     SELECT lot_id, points, (count(*) OVER ())::int AS count FROM lines
      WHERE organization_id = $1 AND transaction_id = asked.id
      ORDER BY lot_id LIMIT ${String(MOST_LINES)}) AS line`;

const LINES = linesOf('unnest($2::uuid[])');

const LINES_OF = 'SELECT lot_id, points FROM lines WHERE organization_id = $1 AND transaction_id = $2';

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
  list(context: OrganizationScope, asked: ListQuery): Promise<Page<TransactionDto>> {
    return this.database.inOrganization(context, async (tx) => {
      const named = asked.filters.filter(({ field }) => field === 'contact_id');
      if (named.length > 0) return this.ofContacts(tx, named, asked);
      refuseOccurrenceOrder(asked);
      if (isWalk(asked)) return this.withLines(tx, await walkPage<TransactionRow>(tx, rowsOf, asked));
      const parameters = [tx.organizationId];
      return this.withLines(tx, await pageOf<TransactionRow>(tx, ALL, asked, { parameters }));
    });
  }

  /** @throws Problem `not_found` */
  get(context: RequestContext, id: string): Promise<TransactionDto> {
    return this.database.inOrganization(context, (tx) => this.read(tx, id));
  }

  /** @throws Problem `not_found` */
  lines(context: RequestContext, id: string, query: ListQuery): Promise<Page<LineDto>> {
    return this.database.inOrganization(context, async (tx) => {
      const parameters = [tx.organizationId, id];
      const page = await pageOf<LineRow, LineDto>(tx, LINES_OF, query, { parameters, map: toLineDto });
      // Every transaction has some.
      if (page.data.length === 0) await this.read(tx, id);
      return page;
    });
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

  /** Of one contact or some: a filter of theirs never walks the organization's ledger. */
  private async ofContacts(
    tx: Transaction,
    named: ListQuery['filters'],
    asked: ListQuery,
  ): Promise<Page<TransactionDto>> {
    const contactIds = await this.survivorsOf(
      tx,
      named.map(({ values }) => values.map(String)),
    );
    if (contactIds.length > 1) refuseOccurrenceOrder(asked);
    const query = { ...asked, filters: asked.filters.filter((filter) => !named.includes(filter)) };
    const refs = await subjectRefsOf(tx, contactIds);
    const parameters = [tx.organizationId];
    return this.withLines(tx, await pageOfOwners<TransactionRow>(tx, ofSubject, refs, query, { parameters }));
  }

  /**
   * The contacts that every one of the filters lets through; in a filter a merged contact means its survivor. One that
   * has subjects is not merged, and need not be followed.
   */
  private async survivorsOf(tx: Transaction, filters: readonly string[][]): Promise<string[]> {
    const ids = [...new Set(filters.flat())];
    const [only, ...more] = ids;
    if (only !== undefined && more.length === 0 && (await subjectRefsOf(tx, ids)).length > 0) return ids;
    const ends = await this.contacts.ends(tx, ids);
    const [first, ...others] = filters.map((values) => new Set(values.map((id) => ends.get(id)?.id ?? id)));
    return [...(first ?? [])].filter((id) => others.every((each) => each.has(id)));
  }

  private async withLines(
    tx: Transaction,
    { data, page }: Page<TransactionRow>,
  ): Promise<Page<TransactionDto>> {
    return { data: await this.shown(tx, data), page };
  }

  private async shown(tx: Transaction, rows: readonly TransactionRow[]): Promise<TransactionDto[]> {
    if (rows.length === 0) return [];
    const lines = await tx.query<LineOfRow>(LINES, [tx.organizationId, rows.map(({ id }) => id)]);
    return withOwnLines(rows, lines);
  }
}

/** Each transaction with those of the lines that are its own. */
export function withOwnLines(rows: readonly TransactionRow[], lines: readonly LineOfRow[]): TransactionDto[] {
  const byTransaction = Map.groupBy(lines, ({ transaction_id: id }) => id);
  return rows.map((row) => {
    const own = byTransaction.get(row.id) ?? [];
    return toTransactionDto(row, own.map(toLineDto), own[0]?.count ?? 0);
  });
}

async function subjectRefsOf(tx: Transaction, contactIds: readonly string[]): Promise<string[]> {
  const rows = await tx.query<{ subject_ref: string }>(SUBJECTS, [tx.organizationId, contactIds]);
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
