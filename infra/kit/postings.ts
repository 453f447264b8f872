import { randomUUID } from 'node:crypto';
import { type Platform, get } from './platform.ts';

/** What a till was promised: the id and the points of each posting that was answered 201, by its key. */
export interface PostingLog {
  posted: Map<string, { id: string; points: number }>;
  /** Keys that the ledger's rules refused; nothing may stand under them. */
  refused: Set<string>;
  /** Answers that settle nothing, by kind; each was tried again with its key. */
  hiccups: Map<string, number>;
}

interface PostingBody {
  kind: 'adjust' | 'spend' | 'reverse';
  reference: string;
  [field: string]: unknown;
}

interface LedgerRow {
  id: string;
  contact_id: string | null;
  points: number;
  reference: string | null;
  lines: { points: number }[];
}

const PEOPLE = 20;
const PATH = '/v1/loyalty/transactions';

/** A till that loses nothing: adjusts, spends and reverses points, each call again with its key until it is settled. */
export class SteadyTill {
  readonly log: PostingLog = { posted: new Map(), refused: new Set(), hiccups: new Map() };
  private readonly run = randomUUID().slice(0, 8);
  private readonly open = new Set<Promise<void>>();
  private contacts: string[] = [];
  private timer: NodeJS.Timeout | undefined;
  private made = 0;
  private readonly platform: Platform;

  constructor(platform: Platform) {
    this.platform = platform;
  }

  async start(perSecond: number): Promise<void> {
    const page = await get<{ data: { id: string }[] }>(
      this.platform,
      `/v1/core/contacts?limit=${PEOPLE}&sort=created_at`,
    );
    this.contacts = page.data.map(({ id }) => id);
    if (this.contacts.length === 0) throw new Error('There is no contact to give points to.');
    this.timer = setInterval(() => this.begin(), 1_000 / perSecond);
  }

  /** Stops and waits until each call that was begun is settled. */
  async finish(): Promise<void> {
    clearInterval(this.timer);
    await Promise.all(this.open);
  }

  private begin(): void {
    const number = (this.made += 1);
    const key = `till-${this.run}-${number}`;
    const sending = this.settle(key, this.bodyOf(number, key)).finally(() => this.open.delete(sending));
    this.open.add(sending);
  }

  private bodyOf(number: number, reference: string): PostingBody {
    const contact_id = this.contacts[number % this.contacts.length];
    const earlier = [...this.log.posted.values()];
    const original = earlier[Math.floor(Math.random() * earlier.length)];
    if (number % 4 === 0 && original !== undefined)
      return { kind: 'reverse', reverses_id: original.id, reason: 'Returned', reference };
    if (number % 4 === 1) return { kind: 'adjust', contact_id, points: 40, reason: 'Goodwill', reference };
    return { kind: 'spend', contact_id, points: 1 + (number % 17), reference };
  }

  private async settle(key: string, body: PostingBody): Promise<void> {
    for (let pause = 50; ; pause = Math.min(pause * 2, 1_000)) {
      const hiccup = await this.attempt(key, body);
      if (hiccup === undefined) return;
      this.log.hiccups.set(hiccup, (this.log.hiccups.get(hiccup) ?? 0) + 1);
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }

  /** Undefined: settled for good. */
  private async attempt(key: string, body: PostingBody): Promise<string | undefined> {
    try {
      const answer = await fetch(this.platform.base_url + PATH, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${this.platform.admin_key}`,
          'content-type': 'application/json',
          'idempotency-key': key,
        },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(10_000),
      });
      const parsed = (await answer.json()) as { id?: string; points?: number; code?: string };
      if (answer.status === 201 && parsed.id !== undefined) {
        this.log.posted.set(key, { id: parsed.id, points: parsed.points ?? 0 });
        return undefined;
      }
      if (answer.status !== 409 || parsed.code === 'idempotency_in_progress')
        return `${answer.status} ${parsed.code ?? ''}`;
      this.log.refused.add(key);
      return undefined;
    } catch {
      return 'connection broken';
    }
  }
}

/** What of the promises is lost or doubled in the ledger, and what in it does not add up. */
export async function judgePostings(
  platform: Platform,
  log: PostingLog,
  rows: readonly LedgerRow[],
): Promise<{ lost: string[]; doubled: string[] }> {
  const byKey = Map.groupBy(rows, ({ reference }) => reference ?? '');
  const lost: string[] = [];
  const doubled: string[] = [];
  for (const [key, { id, points }] of log.posted) {
    const found = byKey.get(key) ?? [];
    if (!found.some((row) => row.id === id && row.points === points)) lost.push(`posting ${key}`);
    if (found.length > 1) doubled.push(`posting ${key}: ${found.length} times`);
  }
  for (const key of log.refused) if (byKey.has(key)) doubled.push(`posting ${key}, which was refused`);
  for (const { id, points, lines } of rows) {
    const sum = lines.reduce((total, line) => total + line.points, 0);
    if (sum !== points) lost.push(`lines of ${id}: ${sum} of ${points} points`);
  }
  for (const [contactId, own] of Map.groupBy(rows, ({ contact_id: id }) => id)) {
    if (contactId === null) continue;
    const sum = own.reduce((total, { points }) => total + points, 0);
    const balance = await get<{ points: number }>(platform, `/v1/loyalty/contacts/${contactId}/balance`);
    const wrong = `balance of ${contactId}: ${balance.points} of ${sum} points`;
    if (balance.points < sum) lost.push(wrong);
    if (balance.points > sum) doubled.push(wrong);
  }
  return { lost, doubled };
}
