import { Injectable } from '@nestjs/common';
import { Clock, Database } from '@customer-platform/database';
import { parseInstant, type RequestContext } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import type { Kind } from './transaction.dto.js';
import type { LedgerSummaryDto, LedgerSummaryQueryDto } from './ledger-summary.dto.js';

const DAY_MS = 86_400_000;
/** A million rows take some tenths of a second. */
const MOST_DAYS = 7;
/** The first instant that can be asked for. */
const EARLIEST = Date.parse('0001-01-01T00:00:00Z');

/** Sums by kind, along the index of creation. */
const SUMS = `
  SELECT kind, count(*)::int AS count, sum(points)::text AS points FROM transactions
   WHERE organization_id = $1 AND created_at >= $2 AND created_at < $3 GROUP BY kind`;

/** Sums the rows of the ledger of some time, all of them. */
@Injectable()
export class LedgerSummary {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /** @throws Problem `validation_failed` (`out_of_range`) */
  async of(context: RequestContext, query: LedgerSummaryQueryDto): Promise<LedgerSummaryDto> {
    const { from, to } = this.range(query);
    const rows = await this.database.inOrganization(context, (tx) =>
      tx.query<{ kind: string; count: number; points: string }>(SUMS, [tx.organizationId, from, to]),
    );
    const byKind = new Map(rows.map((row) => [row.kind, row]));
    const summed = (kind: Kind) => ({
      count: byKind.get(kind)?.count ?? 0,
      points: Number(byKind.get(kind)?.points ?? 0),
    });
    return {
      from: from.toISOString(),
      to: to.toISOString(),
      kinds: {
        earn: summed('earn'),
        adjust: summed('adjust'),
        spend: summed('spend'),
        expire: summed('expire'),
        reverse: summed('reverse'),
      },
    };
  }

  private range(query: LedgerSummaryQueryDto): { from: Date; to: Date } {
    const to = instantOf(query.to) ?? this.clock.now();
    const from = instantOf(query.from) ?? new Date(Math.max(to.getTime() - DAY_MS, EARLIEST));
    if (from > to) throw outOfRange('`from` is after `to`.');
    if (to.getTime() - from.getTime() > MOST_DAYS * DAY_MS)
      throw outOfRange(`At most ${String(MOST_DAYS)} days can be asked for.`);
    return { from, to };
  }
}

function instantOf(text: string | undefined): Date | undefined {
  const written = text === undefined ? undefined : parseInstant(text);
  return written === undefined ? undefined : new Date(written);
}

function outOfRange(detail: string): Problem {
  return Problem.validation([{ parameter: 'from', code: 'out_of_range', detail }]);
}
