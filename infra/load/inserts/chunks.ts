import { randomBytes, randomUUID } from 'node:crypto';
import { connected } from '@customer-platform/kit/databases.ts';
import type pg from 'pg';
import type { Share } from '../seed/plan.ts';
import { eventIdOf, SeedRows } from '../seed/rows.ts';

/** As much of a transaction as the statements ask for. */
interface Statements {
  prepared(sql: string, parameters?: readonly unknown[]): Promise<Record<string, unknown>[]>;
}

/** An event as the worker has read it off the queue. */
interface Arrival {
  organizationId: string;
  eventId: string;
  kind: 'track';
  body: { event: string; external_id: string; idempotency_key: string; properties: object };
  occurredAt: string;
  receivedAt: string;
  fingerprint: string;
}

/** What core's worker does of a chunk with the table of events, from its build. */
export interface WorkerStatements {
  sortArrivals(tx: Statements, arrivals: readonly Arrival[]): Promise<{ fresh: readonly Arrival[] }>;
  writeEvents(
    tx: Statements,
    effects: readonly { item: Arrival; contact: { id: string }; warnings: readonly never[] }[],
    origins: ReadonlyMap<string, string | null>,
  ): Promise<void>;
}

/** How a chunk went in. */
interface StoredChunk {
  events: number;
  lookUpMs: number;
  storeMs: number;
}

const EVENTS_AT_ONCE = 800;
/** As `Database.acrossOrganizations` begins for the worker. */
const BEGIN = `BEGIN; SET LOCAL app.worker = 'on'; SET LOCAL enable_seqscan = off; SET LOCAL enable_hashjoin = off;
  SET LOCAL enable_mergejoin = off`;

/** Chunks of new events as a worker stores them: half of the first organization, the rest of all the others. */
export class Chunks {
  private readonly names = new Map<string, string>();
  private readonly rows: readonly { share: Share; rows: SeedRows }[];

  private readonly client: pg.Client;
  private readonly worker: WorkerStatements;

  private constructor(client: pg.Client, shares: readonly Share[], worker: WorkerStatements) {
    this.client = client;
    this.worker = worker;
    this.rows = shares.map((share) => ({ share, rows: new SeedRows(share, Date.now()) }));
  }

  static async open(url: string, shares: readonly Share[], worker: WorkerStatements): Promise<Chunks> {
    return new Chunks(await connected(url), shares, worker);
  }

  close(): Promise<void> {
    return this.client.end();
  }

  async store(): Promise<StoredChunk> {
    const contacts = new Map<Arrival, string>();
    for (let at = 0; at < EVENTS_AT_ONCE; at += 1) contacts.set(...this.anEvent());
    await this.client.query(BEGIN);
    const began = performance.now();
    const { fresh } = await this.worker.sortArrivals(this, [...contacts.keys()]);
    const lookedUp = performance.now();
    const effects = fresh.map((item) => ({ item, contact: { id: contacts.get(item) ?? '' }, warnings: [] }));
    await this.worker.writeEvents(this, effects, new Map());
    const stored = performance.now();
    await this.client.query('COMMIT');
    return { events: fresh.length, lookUpMs: lookedUp - began, storeMs: stored - lookedUp };
  }

  async prepared(text: string, values: readonly unknown[] = []): Promise<Record<string, unknown>[]> {
    const name = this.names.get(text) ?? `statement_${String(this.names.size + 1)}`;
    this.names.set(text, name);
    return (await this.client.query<Record<string, unknown>>({ name, text, values: [...values] })).rows;
  }

  private anEvent(): [arrival: Arrival, contactId: string] {
    const others = this.rows.length - 1;
    const place = Math.random() < 0.5 || others === 0 ? 0 : 1 + Math.floor(Math.random() * others);
    const found = this.rows[place];
    if (!found) throw new Error('There is no organization.');
    const { organizationId, contacts, events } = found.share;
    const contact = Math.floor(Math.random() * contacts);
    const now = new Date().toISOString();
    // Among the keys that are there: an index on them has its pages anywhere.
    const key = `seed-${String(Math.floor(Math.random() * events))}.${randomUUID()}`;
    const arrival: Arrival = {
      organizationId,
      eventId: eventIdOf(organizationId, key),
      kind: 'track',
      body: {
        event: 'purchase_completed',
        external_id: `load-${String(contact)}`,
        idempotency_key: key,
        properties: {
          amount: 12_990,
          currency: 'CLP',
          invoice_id: randomBytes(4).toString('hex'),
          path: '/checkout/thanks',
        },
      },
      occurredAt: now,
      receivedAt: now,
      fingerprint: randomUUID(),
    };
    return [arrival, found.rows.contactId(contact)];
  }
}
