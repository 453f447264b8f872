import { newId } from '@customer-platform/database';
import { eventsHeardBy, TopicEnds } from '@customer-platform/event-bus';
import {
  dataSchema,
  topicOf,
  topicOfModule,
  type EventData,
  type Publisher,
} from '@customer-platform/events';
import type { Type } from '@nestjs/common';
import type { ConsumingModule } from './consumed-events.js';
import { ID_EDGES, INSTANT_EDGES, NUMBER_EDGES, TEXT_EDGES } from './edges.js';
import { eventually } from './eventually.js';
import { kafkaProbe } from './kafka-probe.js';

/** The module that is held to it. */
export interface EventEdges {
  readonly module: Publisher;
  /** Its module of Nest, whose controllers take events. */
  readonly root: Type;
  /** Begins it, as one that consumes. */
  readonly start: () => Promise<ConsumingModule>;
}

/** A part of a JSON schema, as far as values are made by it. */
interface Sketch {
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Sketch[];
  readonly properties?: Readonly<Record<string, Sketch>>;
  readonly items?: Sketch;
}

const OBJECTS = [
  {},
  { '\u0000': 1 },
  { a: '\u0000' },
  { a: '\uD800' },
  { a: 1e308 },
  { ['k'.repeat(300)]: [[[[]]]] },
];
const WITHIN_MS = 240_000;
const AT_ONCE = 200;

/**
 * Publishes every event that the module takes, with one field each at the edge of its type, and holds the module to going
 * on behind them: whatever no statement takes is parked, and nothing is tried for ever.
 */
export function itGoesOnBehindEveryEdge({ module, root, start }: EventEdges): void {
  it(
    'goes on behind every edge of the events that it takes',
    async () => {
      const running = await start();
      const types = [...eventsHeardBy(root)];
      const organizationId = newId();
      const events = types.flatMap((type) =>
        edgesOf(dataSchema(type) as Sketch).map((data) => ({
          type,
          organizationId,
          data: data as EventData<typeof type>,
        })),
      );
      for (let from = 0; from < events.length; from += AT_ONCE)
        await kafkaProbe(running.app).publish(...events.slice(from, from + AT_ONCE));
      const topics = [...new Set(types.map((type) => topicOf(type)))];
      await eventually(async () => expect(await unread(running, topicOfModule(module), topics)).toEqual([]), {
        within: WITHIN_MS,
        every: 250,
      });
    },
    WITHIN_MS + 60_000,
  );
}

/** Partitions of the topics that the group has not read to their ends. */
async function unread(
  { app, database }: ConsumingModule,
  group: string,
  topics: readonly string[],
): Promise<string[]> {
  const rows = await database.query<{ place: string; next: string }>(
    `SELECT topic || ' ' || partition AS place, next_offset::text AS next FROM consumer_positions
      WHERE consumer LIKE '%' || $1`,
    [group],
  );
  const places: string[] = [];
  for (const topic of topics)
    for (const [partition, end] of await app.app.get(TopicEnds).of(topic)) {
      const row = rows.find(({ place }) => place.endsWith(`${topic} ${String(partition)}`));
      if (end > BigInt(row?.next ?? 0)) places.push(`${topic} ${String(partition)}`);
    }
  return places;
}

/** Values of which one field each is at an edge, the others as they may be. */
function edgesOf(sketch: Sketch): unknown[] {
  const [own] = alternativesOf(sketch);
  if (!own) return [];
  if (own.properties) {
    const usual = sampleOf(own) as Record<string, unknown>;
    return Object.entries(own.properties).flatMap(([name, inner]) =>
      edgesOf(inner).map((edge) => ({ ...usual, [name]: edge })),
    );
  }
  return alternativesOf(sketch).flatMap(leavesOf);
}

function leavesOf(own: Sketch): unknown[] {
  if (own.enum || own.const !== undefined) return [sampleOf(own)];
  if (own.format === 'uuid' || own.format === 'guid') return ID_EDGES;
  if (own.format === 'date-time') return INSTANT_EDGES;
  if (own.type === 'string') return TEXT_EDGES;
  if (own.type === 'integer') return NUMBER_EDGES.filter(Number.isInteger);
  if (own.type === 'number') return NUMBER_EDGES;
  if (own.type === 'array') return [[], ...edgesOf(own.items ?? {}).map((item) => [item])];
  return own.type === 'object' ? OBJECTS : [null];
}

function sampleOf(sketch: Sketch): unknown {
  const [own = {}] = alternativesOf(sketch);
  if (own.const !== undefined) return own.const;
  if (own.enum) return own.enum[0];
  if (own.format === 'uuid' || own.format === 'guid') return newId();
  if (own.format === 'date-time') return '2026-11-21T09:30:00.000Z';
  if (own.type === 'string') return 'text';
  if (own.type === 'integer' || own.type === 'number') return 1;
  if (own.type === 'boolean') return true;
  if (own.type === 'array') return [sampleOf(own.items ?? {})];
  if (own.type !== 'object') return null;
  return Object.fromEntries(
    Object.entries(own.properties ?? {}).map(([name, inner]) => [name, sampleOf(inner)]),
  );
}

/** The one schema, or each of those that it may be; what may be null, too, as what it is otherwise first. */
function alternativesOf(sketch: Sketch): Sketch[] {
  if (sketch.anyOf) return sketch.anyOf.flatMap(alternativesOf);
  const types = Array.isArray(sketch.type) ? (sketch.type as string[]) : undefined;
  return types ? types.map((type) => ({ ...sketch, type })) : [sketch];
}
