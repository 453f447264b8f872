import type { Transaction } from '@customer-platform/database';
import { yieldLoop } from '@customer-platform/http';
import { matching } from '../../following/segment-follower.js';
import type { Condition } from '../../vocabulary/rules/segment-index.js';
import type { Occurrences } from '../../vocabulary/rules/evaluate.js';
import type { Asked, EventNode } from '../../vocabulary/rules/rule.js';
import type { OccurrencesReader } from './contact-facts.js';

/** Of the properties only those that are asked for, by every key that a dotted path may begin with. */
const EVENTS = `
  SELECT asked.place::int AS place, event.id, event.occurred_at, event.properties
    FROM unnest($2::uuid[], $3::text[], $4::timestamptz[], $5::timestamptz[], $6::uuid[], $7::json[]) WITH ORDINALITY
           AS asked (contact_id, event, since, until_at, until_id, keys, place)
   CROSS JOIN LATERAL (
     SELECT id, occurred_at, CASE WHEN asked.keys IS NULL THEN payload ELSE (
              SELECT jsonb_object_agg(key, payload -> key) FROM json_array_elements_text(asked.keys) AS key
               WHERE jsonb_exists(payload, key)) END AS properties
       FROM events
      WHERE organization_id = $1 AND contact_id = asked.contact_id AND event = asked.event
        AND occurred_at > asked.since AND (occurred_at, id) < (asked.until_at, asked.until_id)
      ORDER BY occurred_at DESC, id DESC LIMIT $8) AS event
   ORDER BY asked.place, event.occurred_at DESC, event.id DESC`;

/** Events of a contact in one statement: few at first, which is what most have. */
const FIRST = 16;
const FURTHER = 256;
/** Events of all contacts in one statement. */
const ROWS_AT_ONCE = 1_024;
/** With more keys than these the properties are taken whole. */
const MOST_KEYS = 100;
/** As long as matching may hold the event loop. */
const STEP_MS = 5;

const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** What rules ask of the events of one name. */
interface Sought {
  readonly event: string;
  readonly conditions: readonly Condition[];
  /** How many must be known of each condition, by fingerprint. */
  readonly depths: ReadonlyMap<string, number>;
  readonly withinMs: number;
  readonly keys: string | null;
}

/** How far the search among the events of a contact, or of one that was merged into it, has come. */
interface Walk {
  readonly contactId: string;
  readonly memberId: string;
  readonly sought: Sought;
  readonly found: Map<string, number>;
  looked: number;
  untilAt: Date;
  untilId: string;
  over: boolean;
  /** Whether there may be events that were not looked at. */
  left: boolean;
}

interface EventRow {
  place: number;
  id: string;
  occurred_at: Date;
  properties: Record<string, unknown> | null;
}

/** How a search goes about. */
interface SearchOptions {
  /** Of a contact and an event name no more than so many events are looked at, newest first. */
  readonly most: number;
  /** So many matching ones are found even where fewer would decide. */
  readonly atLeast?: number;
  /** Throws when the search has to end. */
  readonly goOn?: () => void;
}

/**
 * Times of events from the events themselves: what a rule asks for which nobody keeps counts. Up to now only, newest first;
 * by the same matching as the counts that are kept.
 */
export class OccurrenceSearch {
  /** Whether somebody had more events than were looked at, so that a count may be too small. */
  incomplete = false;

  constructor(private readonly options: SearchOptions) {}

  readonly read: OccurrencesReader = async (tx, questions, families, now) => {
    const soughtBy = new Map<ReadonlySet<Asked>, readonly Sought[]>();
    let walks: Walk[] = [];
    for (const [contactId, family] of families) {
      const rules = questions.get(contactId) ?? new Set<Asked>();
      const sought = soughtBy.get(rules) ?? soughtIn(rules, this.options.atLeast ?? 0);
      soughtBy.set(rules, sought);
      for (const memberId of family)
        for (const each of sought) walks.push(walkOf(contactId, memberId, each, now));
    }
    const times = new Map<string, number[]>();
    const allAfter = new Map<string, number>();
    // All that go on have looked at as many.
    for (let looked = 0, page = FIRST; walks.length > 0; looked += page, page = FURTHER) {
      page = Math.min(page, this.options.most - looked);
      const together = Math.max(1, Math.floor(ROWS_AT_ONCE / page));
      for (let at = 0; at < walks.length; at += together)
        await this.look(tx, walks.slice(at, at + together), page, now, times);
      for (const walk of walks) noteEnd(walk, allAfter);
      walks = walks.filter(({ over }) => !over);
    }
    for (const found of times.values()) found.sort((one, other) => other - one);
    return (contactId, { event, fingerprint }: EventNode): Occurrences => ({
      past: times.get(`${contactId} ${fingerprint}`) ?? [],
      future: [],
      allAfter: allAfter.get(`${contactId} ${event}`),
    });
  };

  private async look(
    tx: Transaction,
    walks: readonly Walk[],
    page: number,
    now: Date,
    times: Map<string, number[]>,
  ): Promise<void> {
    this.options.goOn?.();
    const of = <T>(read: (walk: Walk) => T): T[] => walks.map(read);
    const rows = await tx.query<EventRow>(EVENTS, [
      tx.organizationId,
      of(({ memberId }) => memberId),
      of(({ sought }) => sought.event),
      of(({ sought: { withinMs } }) =>
        withinMs === Infinity ? '-infinity' : new Date(now.getTime() - withinMs),
      ),
      of(({ untilAt }) => untilAt),
      of(({ untilId }) => untilId),
      of(({ sought }) => sought.keys),
      page,
    ]);
    const counts = new Map<Walk, number>();
    let since = performance.now();
    for (const row of rows) {
      const walk = walks[row.place - 1];
      if (!walk) continue;
      counts.set(walk, (counts.get(walk) ?? 0) + 1);
      note(walk, row, times);
      if (performance.now() - since < STEP_MS) continue;
      await yieldLoop();
      this.options.goOn?.();
      since = performance.now();
    }
    for (const walk of walks) this.settle(walk, counts.get(walk) ?? 0, page);
  }

  /** It is over when all events have been seen, or as many as decide, or as many as may be. */
  private settle(walk: Walk, count: number, page: number): void {
    const { depths } = walk.sought;
    walk.looked += count;
    const decided = [...depths].every(([condition, depth]) => (walk.found.get(condition) ?? 0) >= depth);
    walk.over = count < page || decided || walk.looked >= this.options.most;
    walk.left = count === page;
    if (walk.over && walk.left && !decided) this.incomplete = true;
  }
}

function note(walk: Walk, row: EventRow, times: Map<string, number[]>): void {
  walk.untilAt = row.occurred_at;
  walk.untilId = row.id;
  const at = row.occurred_at.getTime();
  for (const { id } of matching(walk.sought.conditions, row.properties ?? {}, at)) {
    const key = `${walk.contactId} ${id}`;
    const found = times.get(key);
    if (found) found.push(at);
    else times.set(key, [at]);
    walk.found.set(id, (walk.found.get(id) ?? 0) + 1);
  }
}

/** Of a contact and a name no event is left that is later than this. */
function noteEnd({ over, left, untilAt, contactId, sought }: Walk, allAfter: Map<string, number>): void {
  if (!over || !left) return;
  const key = `${contactId} ${sought.event}`;
  allAfter.set(key, Math.max(allAfter.get(key) ?? -Infinity, untilAt.getTime()));
}

function walkOf(contactId: string, memberId: string, sought: Sought, now: Date): Walk {
  return {
    contactId,
    memberId,
    sought,
    found: new Map(),
    looked: 0,
    untilAt: now,
    untilId: LAST_ID,
    over: false,
    left: true,
  };
}

/** What is asked of events, once for each of their names. */
function soughtIn(rules: Iterable<Asked>, atLeast: number): Sought[] {
  const nodes = Map.groupBy(
    [...rules].flatMap(({ events }) => events),
    ({ event }) => event,
  );
  return [...nodes].map(([event, asked]) => {
    const conditions = new Map<string, Condition>();
    const depths = new Map<string, number>();
    for (const { fingerprint, where, count } of asked) {
      conditions.set(fingerprint, { id: fingerprint, event, where });
      depths.set(fingerprint, Math.max(depths.get(fingerprint) ?? atLeast, count.value + 1));
    }
    const paths = asked.flatMap(({ where }) => where.map(({ property }) => property));
    return {
      event,
      conditions: [...conditions.values()],
      depths,
      withinMs: Math.max(...asked.map(({ withinMs }) => withinMs)),
      keys: keysOf(paths),
    };
  });
}

function keysOf(paths: readonly string[]): string | null {
  const keys = new Set<string>();
  for (const path of paths) {
    keys.add(path);
    for (let dot = path.indexOf('.'); dot > 0; dot = path.indexOf('.', dot + 1)) keys.add(path.slice(0, dot));
    if (keys.size > MOST_KEYS) return null;
  }
  return JSON.stringify([...keys]);
}
