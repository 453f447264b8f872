import type { HandOff } from './sink.ts';
import { type Platform, get } from './platform.ts';
import type { ClientLog } from './steady-client.ts';
import { type PostingLog, judgePostings } from './postings.ts';

interface EventRow {
  id: string;
  idempotency_key: string;
}
interface TransactionRow {
  id: string;
  contact_id: string | null;
  event_id: string | null;
  kind: string;
  points: number;
  reference: string | null;
  lines: { points: number }[];
}
interface SendRow {
  id: string;
  correlation_id: string;
  state: string;
  reason: string | null;
}

export interface Verdict {
  lost: string[];
  doubled: string[];
  /** Sends of which nobody can know whether they left; they are never tried again. */
  inDoubt: number;
  lines: string[];
}

/** What was promised to whom: to the client that sends events, and to the till that posts points. */
interface Promises {
  events: ClientLog;
  postings: PostingLog;
}

/** Compares what was promised with what is there: events, points, postings and mails, each exactly once. */
export async function judge(
  platform: Platform,
  { events: log, postings }: Promises,
  mails: readonly HandOff[],
): Promise<Verdict> {
  const verdict: Verdict = { lost: [], doubled: [], inDoubt: 0, lines: [] };
  const events = await walk<EventRow>(platform, '/v1/core/events?');
  const stored = countBy(events, ({ id }) => id);
  for (const [key, id] of log.accepted) expectOne(verdict, `event ${key}`, stored.get(id) ?? 0);
  const keys = countBy(events, ({ idempotency_key: key }) => key);
  for (const key of log.accepted.keys()) if ((keys.get(key) ?? 0) > 1) verdict.doubled.push(`key ${key}`);

  const ledger = await walk<TransactionRow>(platform, '/v1/loyalty/transactions?');
  const earned = ledger.filter(({ kind }) => kind === 'earn');
  const points = countBy(earned, ({ event_id: id }) => id ?? '');
  for (const id of log.purchases) expectOne(verdict, `points of ${id}`, points.get(id) ?? 0);

  const { lost, doubled } = await judgePostings(platform, postings, ledger);
  verdict.lost.push(...lost);
  verdict.doubled.push(...doubled);
  verdict.lines.push(
    `postings ${postings.posted.size} promised, ${postings.refused.size} refused; every balance compared with its transactions`,
  );

  const sends = await walk<SendRow>(platform, '/v1/messaging/sends?');
  judgeMails(verdict, log, sends, mails);
  verdict.lines.push(
    `events ${log.accepted.size} promised, ${events.length} stored in all; points for ${log.purchases.size} purchases; ` +
      `sends ${JSON.stringify(Object.fromEntries(countBy(sends, ({ state }) => state)))}; mails received ${mails.filter(({ complete }) => complete).length}`,
  );
  return verdict;
}

function judgeMails(verdict: Verdict, log: ClientLog, sends: SendRow[], mails: readonly HandOff[]): void {
  const received = countBy(
    mails.filter(({ complete }) => complete),
    ({ correlationId }) => correlationId ?? '',
  );
  const byCause = Map.groupBy(sends, ({ correlation_id: id }) => id);
  for (const id of log.purchases) {
    const [send, ...more] = byCause.get(id) ?? [];
    expectOne(verdict, `send of ${id}`, send === undefined ? 0 : 1 + more.length);
    const mailed = received.get(id) ?? 0;
    if (mailed > 1) verdict.doubled.push(`mail of ${id}: ${mailed} times`);
    if (send?.state === 'unknown') verdict.inDoubt += 1;
    else if (send !== undefined && send.state !== 'sent')
      verdict.lost.push(`send of ${id} is ${send.state}: ${send.reason}`);
    else if (send !== undefined && mailed === 0) verdict.lost.push(`mail of ${id}`);
  }
}

function expectOne(verdict: Verdict, what: string, times: number): void {
  if (times === 0) verdict.lost.push(what);
  if (times > 1) verdict.doubled.push(`${what}: ${times} times`);
}

function countBy<T>(items: readonly T[], key: (item: T) => string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const item of items) counts.set(key(item), (counts.get(key(item)) ?? 0) + 1);
  return counts;
}

export async function walk<T>(platform: Platform, path: string): Promise<T[]> {
  const rows: T[] = [];
  let cursor: string | null = null;
  do {
    const at: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const page: { data: T[]; page: { next_cursor: string | null } } = await get(
      platform,
      `${path}limit=200${at}`,
    );
    rows.push(...page.data);
    cursor = page.page.next_cursor;
  } while (cursor !== null);
  return rows;
}
