import type { WorkerTransaction } from '@customer-platform/database';
import { localDay, localWeek } from '../../vocabulary/calendar/local-time.js';
import type { ReadySend } from './dispatch-decision.js';

/** One cap as it holds for one send: how many of which period are used. */
interface Counter {
  readonly organizationId: string;
  readonly contactId: string;
  readonly channel: string;
  readonly period: 'day' | 'week';
  readonly beginsOn: string;
}

/** A send as far as caps count it. */
export type CountedSend = Pick<ReadySend, 'contactId' | 'caps' | 'timezone'> & {
  readonly send: Pick<
    ReadySend['send'],
    'organizationId' | 'id' | 'category' | 'capCounted' | 'channel' | 'topic'
  >;
};

const READ = `
  SELECT organization_id, contact_id, channel, period, begins_on::text AS begins_on, used FROM cap_counters
   WHERE (organization_id, contact_id, channel, period, begins_on)
         IN (SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::date[]))
   ORDER BY organization_id, contact_id, channel, period, begins_on`;

const LOCK = `${READ} FOR UPDATE`;

const CREATE = `
  INSERT INTO cap_counters (organization_id, contact_id, channel, period, begins_on, used)
  SELECT *, 0 FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::date[])
  ON CONFLICT DO NOTHING`;

/**
 * What went to those who went up in the contacts, by contact. It stays with whom it went to: who parts again has their
 * own. Nobody counts for them meanwhile, so that they need no lock.
 */
const FOLDED = `
  WITH RECURSIVE below AS (
    SELECT DISTINCT w.organization_id, w.contact_id AS top, w.contact_id AS id
      FROM unnest($1::uuid[], $2::uuid[]) AS w (organization_id, contact_id)
     UNION
    SELECT below.organization_id, below.top, merged.id FROM below
      JOIN contacts merged ON merged.organization_id = below.organization_id AND merged.merged_into = below.id)
  SELECT c.organization_id, below.top AS contact_id, c.channel, c.period, c.begins_on::text AS begins_on,
         sum(c.used)::int AS used
    FROM below JOIN cap_counters c ON c.organization_id = below.organization_id AND c.contact_id = below.id
   WHERE below.id <> below.top GROUP BY 1, 2, 3, 4, 5`;

const ADD = `
  UPDATE cap_counters c SET used = c.used + added.count
    FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::date[], $6::int[])
      AS added (organization_id, contact_id, channel, period, begins_on, count)
   WHERE c.organization_id = added.organization_id AND c.contact_id = added.contact_id
     AND c.channel = added.channel AND c.period = added.period AND c.begins_on = added.begins_on`;

interface Row {
  organization_id: string;
  contact_id: string;
  channel: string;
  period: 'day' | 'week';
  begins_on: string;
  used: number;
}

/**
 * Check 5, exact however many dispatchers count at once: the counters of a batch stay locked until its transaction
 * ends. A send counts once, whatever becomes of its attempts.
 */
export class CapCounters {
  private readonly used = new Map<string, number>();
  private readonly added = new Map<string, { counter: Counter; count: number }>();

  private constructor(
    private readonly tx: WorkerTransaction,
    private readonly now: Date,
  ) {}

  /** Locks the counters that concern these sends. */
  static async lock(tx: WorkerTransaction, ready: readonly ReadySend[], now: Date): Promise<CapCounters> {
    const counters = new CapCounters(tx, now);
    await counters.lockAll(ready);
    return counters;
  }

  /** Reads them as they stand now, for who only asks: nobody waits, and nothing that is taken may be saved. */
  static async read(
    tx: WorkerTransaction,
    sends: readonly CountedSend[],
    now: Date,
  ): Promise<Pick<CapCounters, 'take' | 'release'>> {
    const counters = new CapCounters(tx, now);
    const sorted = counters.countersOfAll(sends);
    if (sorted.length > 0) counters.note(await tx.query<Row>(READ, columns(sorted)));
    await counters.addFolded(sorted);
    return counters;
  }

  /** Whether the send has a place left in each of its caps; if so, the place is its own. */
  take(ready: CountedSend): boolean {
    const wanted = this.countersOf(ready);
    const full = wanted.some(({ counter, limit }) => (this.used.get(keyOf(counter)) ?? 0) >= limit);
    if (!full) wanted.forEach(({ counter }) => this.count(counter, 1));
    return !full;
  }

  /** Gives places back that turned out not to be needed. */
  release(ready: CountedSend): void {
    this.countersOf(ready).forEach(({ counter }) => this.count(counter, -1));
  }

  /** Writes down what was taken. */
  async save(): Promise<void> {
    const changed = [...this.added.values()].filter(({ count }) => count !== 0);
    if (changed.length === 0) return;
    await this.tx.query(ADD, [
      ...columns(changed.map(({ counter }) => counter)),
      changed.map(({ count }) => count),
    ]);
  }

  private count(counter: Counter, by: number): void {
    const key = keyOf(counter);
    this.used.set(key, (this.used.get(key) ?? 0) + by);
    this.added.set(key, { counter, count: (this.added.get(key)?.count ?? 0) + by });
  }

  private async lockAll(ready: readonly ReadySend[]): Promise<void> {
    const sorted = this.countersOfAll(ready);
    if (sorted.length === 0) return;
    await this.tx.query(CREATE, columns(sorted));
    this.note(await this.tx.query<Row>(LOCK, columns(sorted)));
    await this.addFolded(sorted);
  }

  /** Each once, in one order for all dispatchers. */
  private countersOfAll(sends: readonly CountedSend[]): Counter[] {
    const wanted = new Map<string, Counter>();
    for (const one of sends)
      for (const { counter } of this.countersOf(one)) wanted.set(keyOf(counter), counter);
    return [...wanted.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, counter]) => counter);
  }

  private note(rows: readonly Row[]): void {
    for (const row of rows) this.used.set(keyOf(toCounter(row)), row.used);
  }

  private async addFolded(sorted: readonly Counter[]): Promise<void> {
    if (sorted.length === 0) return;
    const folded = await this.tx.query<Row>(FOLDED, columns(sorted).slice(0, 2));
    for (const row of folded) {
      const key = keyOf(toCounter(row));
      this.used.set(key, (this.used.get(key) ?? 0) + row.used);
    }
  }

  private countersOf({
    send,
    contactId,
    caps,
    timezone,
  }: CountedSend): { counter: Counter; limit: number }[] {
    if (send.category === 'transactional' || send.capCounted || contactId === null) return [];
    return caps.map(({ channel, limit, window }) => ({
      limit,
      counter: {
        organizationId: send.organizationId,
        contactId,
        channel,
        period: window,
        beginsOn: window === 'day' ? localDay(this.now, timezone) : localWeek(this.now, timezone),
      },
    }));
  }
}

function keyOf({ organizationId, contactId, channel, period, beginsOn }: Counter): string {
  return [organizationId, contactId, channel, period, beginsOn].join('/');
}

function columns(counters: readonly Counter[]): unknown[] {
  return [
    counters.map(({ organizationId }) => organizationId),
    counters.map(({ contactId }) => contactId),
    counters.map(({ channel }) => channel),
    counters.map(({ period }) => period),
    counters.map(({ beginsOn }) => beginsOn),
  ];
}

function toCounter(row: Row): Counter {
  return {
    organizationId: row.organization_id,
    contactId: row.contact_id,
    channel: row.channel,
    period: row.period,
    beginsOn: row.begins_on,
  };
}
