import { Injectable } from '@nestjs/common';
import { uuids, type WorkerTransaction } from '@customer-platform/database';
import type { RuleContent } from '../rules/rule.js';
import { toContent } from '../rules/rule-versions.js';

/** A rule as it stood from an instant on. */
interface RulePeriod {
  from: number;
  version: number;
  deleted: boolean;
  content: RuleContent;
}

/** A rule with all of its periods, oldest first. */
export interface RuleHistory {
  ruleId: string;
  periods: RulePeriod[];
}

/** The histories of an organization's rules by the event name that any of their versions listens to, in order of id. */
export type RuleBook = ReadonlyMap<string, readonly RuleHistory[]>;

const LOAD = `
  SELECT p.rule_id, p.effective_from, p.deleted, v.*
    FROM rule_periods p
    JOIN rule_versions v ON v.organization_id = p.organization_id AND v.rule_id = p.rule_id AND v.version = p.version
   WHERE p.organization_id = $1
   ORDER BY p.rule_id, p.effective_from`;

const REVISIONS = `
  SELECT organization_id, revision FROM unnest($1::uuid[]) AS asked (organization_id)
    JOIN rule_revisions USING (organization_id)`;

const MOST_BOOKS = 5_000;

/** Rules in memory, read anew when the organization's revision has moved. */
@Injectable()
export class RuleBooks {
  private readonly books = new Map<string, { revision: string; book: RuleBook }>();

  /**
   * The rules of these organizations as they are now, one small query where they are known; those that never had one
   * are left out. The transaction may be bound to another organization afterwards.
   */
  async ofAll(tx: WorkerTransaction, organizationIds: readonly string[]): Promise<Map<string, RuleBook>> {
    const rows = await tx.prepared<{ organization_id: string; revision: string }>(REVISIONS, [
      uuids(organizationIds),
    ]);
    const books = new Map<string, RuleBook>();
    for (const { organization_id: organizationId, revision } of rows) {
      books.set(organizationId, await this.at(tx, organizationId, revision));
    }
    return books;
  }

  private async at(tx: WorkerTransaction, organizationId: string, revision: string): Promise<RuleBook> {
    const known = this.books.get(organizationId);
    this.books.delete(organizationId);
    let book = known?.revision === revision ? known.book : undefined;
    if (!book) {
      await tx.useOrganization(organizationId);
      book = await load(tx);
    }
    // Put last, so that the one that was not asked for the longest is the first to go.
    this.books.set(organizationId, { revision, book });
    for (const oldest of this.books.keys()) {
      if (this.books.size <= MOST_BOOKS) break;
      this.books.delete(oldest);
    }
    return book;
  }
}

type Row = Parameters<typeof toContent>[0] & {
  rule_id: string;
  effective_from: Date;
  version: number;
  deleted: boolean;
};

async function load(tx: WorkerTransaction): Promise<RuleBook> {
  const rows = await tx.query<Row>(LOAD, [tx.organizationId]);
  const histories = new Map<string, RuleHistory>();
  for (const row of rows) {
    const history = histories.get(row.rule_id) ?? { ruleId: row.rule_id, periods: [] };
    history.periods.push({
      from: row.effective_from.getTime(),
      version: row.version,
      deleted: row.deleted,
      content: toContent(row),
    });
    histories.set(row.rule_id, history);
  }
  const book = new Map<string, RuleHistory[]>();
  for (const history of histories.values()) {
    for (const name of new Set(history.periods.map(({ content }) => content.event))) {
      book.set(name, [...(book.get(name) ?? []), history]);
    }
  }
  return book;
}

/** The version in force at an instant, or undefined where the rule was not there, deleted or disabled. */
export function inForce(history: RuleHistory, at: number): RulePeriod | undefined {
  const period = history.periods.findLast(({ from }) => from <= at);
  return period === undefined || period.deleted || !period.content.enabled ? undefined : period;
}
