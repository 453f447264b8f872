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

/** A rule with its periods from some instant on, oldest first. */
export interface RuleHistory {
  ruleId: string;
  periods: RulePeriod[];
}

/** The rules that listen to an event in any of their versions. */
interface RulesOfEvent {
  /** Those that are not deleted, in order of id. */
  readonly going: RuleHistory[];
  /** The others, those first that were deleted last. */
  readonly ended: { readonly history: RuleHistory; readonly end: number }[];
}

/** What an organization's rules say of events that were received since some instant, by the event's name. */
export type RuleBook = ReadonlyMap<string, RulesOfEvent>;

/**
 * Rules that are deleted and made again in a loop are many: what was deleted before is left out, by an index, and of
 * each rule all periods but the one that reaches into the time in question.
 */
const LOAD = `
  SELECT p.rule_id, p.effective_from, p.deleted, v.*
    FROM (SELECT id FROM rules WHERE organization_id = $1 AND deleted_at IS NULL
          UNION ALL
          SELECT id FROM rules WHERE organization_id = $1 AND deleted_at IS NOT NULL AND updated_at > $2) AS r
   CROSS JOIN LATERAL (
     SELECT * FROM rule_periods
      WHERE organization_id = $1 AND rule_id = r.id
        AND effective_from >= coalesce(
              (SELECT max(effective_from) FROM rule_periods
                WHERE organization_id = $1 AND rule_id = r.id AND effective_from <= $2), '-infinity')) AS p
    JOIN rule_versions v ON v.organization_id = $1 AND v.rule_id = r.id AND v.version = p.version
   ORDER BY p.rule_id, p.effective_from`;

const REVISIONS = `
  SELECT organization_id, revision FROM unnest($1::uuid[]) AS asked (organization_id)
    JOIN rule_revisions USING (organization_id)`;

const MOST_BOOKS = 5_000;
/** Events are received by several processes and come in any order: so much older ones need no other book. */
const SLACK_MS = 60_000;

interface KnownBook {
  readonly revision: string;
  /** It holds for events that were received since. */
  readonly since: number;
  readonly book: RuleBook;
}

/** Rules in memory, read anew when the organization's revision has moved, or an older event than before is tried. */
@Injectable()
export class RuleBooks {
  private readonly books = new Map<string, KnownBook>();

  /**
   * The rules of these organizations for events received since the instant beside each, as they are now: one small query
   * where they are known; those that never had one are left out. The transaction may be bound to another organization
   * afterwards.
   */
  async ofAll(tx: WorkerTransaction, since: ReadonlyMap<string, number>): Promise<Map<string, RuleBook>> {
    const rows = await tx.prepared<{ organization_id: string; revision: string }>(REVISIONS, [
      uuids([...since.keys()]),
    ]);
    const books = new Map<string, RuleBook>();
    for (const { organization_id: organizationId, revision } of rows) {
      const oldest = since.get(organizationId) ?? 0;
      books.set(organizationId, await this.at(tx, organizationId, { revision, oldest }));
    }
    return books;
  }

  private async at(
    tx: WorkerTransaction,
    organizationId: string,
    { revision, oldest }: { readonly revision: string; readonly oldest: number },
  ): Promise<RuleBook> {
    const known = this.books.get(organizationId);
    this.books.delete(organizationId);
    let next = known;
    if (known?.revision !== revision || known.since > oldest) {
      // Whoever goes back step by step takes longer ones each time.
      const step = known?.revision === revision ? Math.max(SLACK_MS, known.since - oldest) : SLACK_MS;
      const since = Math.max(0, oldest - step);
      await tx.useOrganization(organizationId);
      next = { revision, since, book: await load(tx, new Date(since)) };
    }
    if (!next) throw new Error('A book is known or read');
    // Put last, so that the one that was not asked for the longest is the first to go.
    this.books.set(organizationId, next);
    for (const oldestBook of this.books.keys()) {
      if (this.books.size <= MOST_BOOKS) break;
      this.books.delete(oldestBook);
    }
    return next.book;
  }
}

type Row = Parameters<typeof toContent>[0] & {
  rule_id: string;
  effective_from: Date;
  version: number;
  deleted: boolean;
};

async function load(tx: WorkerTransaction, since: Date): Promise<RuleBook> {
  const rows = await tx.query<Row>(LOAD, [tx.organizationId, since]);
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
  return bookOf([...histories.values()]);
}

/** A book of these rules, which come in order of id. */
export function bookOf(histories: readonly RuleHistory[]): RuleBook {
  const book = new Map<string, RulesOfEvent>();
  for (const history of histories) {
    const last = history.periods.at(-1);
    for (const name of new Set(history.periods.map(({ content }) => content.event))) {
      const rules = book.get(name) ?? { going: [], ended: [] };
      book.set(name, rules);
      if (last?.deleted) rules.ended.push({ history, end: last.from });
      else rules.going.push(history);
    }
  }
  for (const { ended } of book.values()) ended.sort((one, other) => other.end - one.end);
  return book;
}

/** The rules that an event received at the instant is tried against, in order of id. What was deleted before costs nothing. */
export function rulesFor(book: RuleBook, event: string, receivedAt: number): readonly RuleHistory[] {
  const { going, ended } = book.get(event) ?? { going: [], ended: [] };
  const first = ended.findIndex(({ end }) => end <= receivedAt);
  if (first === 0 || ended.length === 0) return going;
  const late = ended.slice(0, first === -1 ? undefined : first).map(({ history }) => history);
  return [...going, ...late].sort((one, other) => (one.ruleId < other.ruleId ? -1 : 1));
}

/** The version in force at an instant, or undefined where the rule was not there, deleted or disabled. */
export function inForce(history: RuleHistory, at: number): RulePeriod | undefined {
  const period = history.periods.findLast(({ from }) => from <= at);
  return period === undefined || period.deleted || !period.content.enabled ? undefined : period;
}
