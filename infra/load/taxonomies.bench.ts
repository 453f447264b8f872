/**
 * `npm run load -- taxonomies [--events N]` (after `npm run build`)
 *
 * Prints what event taxonomies cost an event at ingestion, in CPU of this process: of an organization that has
 * installed nothing, one taxonomy or all of them, for events that hold their schema and for events that break it; the
 * time of the slowest event that breaks one, of 32 KiB; and what compiling a schema takes. Without PostgreSQL or Kafka.
 */
import { join, resolve } from 'node:path';
import { percentile } from '@customer-platform/kit/percentile.ts';

type Say = (line: string) => void;

const ROOT = resolve(import.meta.dirname, '../..');
const BUDGET_US = 10;
const EVENT_BYTES = 32 * 1024;

interface Described {
  readonly name: string;
  readonly schema: object;
  readonly example: Record<string, unknown>;
}
interface Shipped {
  readonly slug: string;
  readonly version: string;
  readonly events: readonly Described[];
}
interface Enforcement {
  violations(event: string, properties: unknown, least: 'warn' | 'strict'): readonly unknown[];
}
interface Installation {
  organizationId: string;
  slug: string;
  version: string;
  mode: 'off' | 'warn' | 'strict';
  overrides: Record<string, 'off' | 'warn' | 'strict'>;
}
interface Catalogs {
  SHIPPED: readonly Shipped[];
  TaxonomyCatalog: new () => object;
}
interface Enforcing {
  Enforcement: new (catalog: object, installations: readonly Installation[]) => Enforcement;
}
interface Compiling {
  readonly compileSchema: (schema: object) => object;
}

interface Sent {
  readonly name: string;
  readonly properties: unknown;
}

/** Prints the figures. */
export async function measureTaxonomies(events: number, say: Say): Promise<void> {
  const dist = join(ROOT, 'apps/core/dist/taxonomies');
  const { SHIPPED, TaxonomyCatalog } = (await import(join(dist, 'taxonomy-catalog.js'))) as Catalogs;
  const { Enforcement: Enforcing } = (await import(join(dist, 'enforcing/enforcement.js'))) as Enforcing;
  const { compileSchema } = (await import(join(dist, 'schemas/compile-schema.js'))) as Compiling;
  const described = SHIPPED.flatMap((taxonomy) => taxonomy.events);
  sayCompiling(described, compileSchema, say);

  const catalog = new TaxonomyCatalog();
  const enforcing = (taxonomies: readonly Shipped[], mode: Installation['mode']): Enforcement =>
    new Enforcing(
      catalog,
      taxonomies.map(({ slug, version }) => ({ organizationId: '', slug, version, mode, overrides: {} })),
    );
  const good = described.map(({ name, example }) => ({ name, properties: example }));
  const bad = described.map(({ name, example }) => ({ name, properties: broken(example) }));
  const shop = SHIPPED.filter(({ slug }) => slug === 'ecommerce');
  say(`\nµs of CPU an event, of ${events} events (the aim is ${BUDGET_US}):`);
  const rows: [string, Enforcement, readonly Sent[]][] = [
    ['nothing installed', enforcing([], 'strict'), good],
    ['ecommerce off', enforcing(shop, 'off'), good],
    ['ecommerce strict, events that hold it', enforcing(shop, 'strict'), good],
    ['all strict, events that hold them', enforcing(SHIPPED, 'strict'), good],
    ['all strict, events that break them', enforcing(SHIPPED, 'strict'), bad],
  ];
  for (const [title, enforcement, sent] of rows)
    say(`  ${costOf(enforcement, sent, events).toFixed(2).padStart(7)}  ${title}`);
  saySlowest(enforcing(SHIPPED, 'strict'), described, say);
}

/** Each property is of a type that it must not have. */
function broken(example: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.keys(example).map((name) => [name, [[]]]));
}

function costOf(enforcement: Enforcement, sent: readonly Sent[], events: number): number {
  const run = (count: number): void => {
    for (let at = 0; at < count; at += 1) {
      const { name, properties } = sent[at % sent.length] ?? { name: '', properties: {} };
      enforcement.violations(name, properties, 'strict');
    }
  };
  run(Math.min(events, 40_000));
  const before = process.cpuUsage();
  run(events);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / events;
}

/** As many items as an event has room for, each breaking what it can; on each event that has a list. */
function saySlowest(enforcement: Enforcement, described: readonly Described[], say: Say): void {
  let slowest = { name: '', ms: 0 };
  for (const { name, example } of described) {
    for (const property of Object.keys(example)) {
      for (const item of [{}, 0, 'x']) {
        const items = Array.from(
          { length: Math.floor(EVENT_BYTES / (JSON.stringify(item).length + 1)) },
          () => item,
        );
        const properties = { ...example, [property]: items };
        const began = performance.now();
        enforcement.violations(name, properties, 'strict');
        const ms = performance.now() - began;
        if (ms > slowest.ms) slowest = { name, ms };
      }
    }
  }
  say(
    `\nThe slowest of the events of 32 KiB that break a schema: ${slowest.ms.toFixed(1)} ms (${slowest.name}).`,
  );
}

function sayCompiling(described: readonly Described[], compile: (schema: object) => object, say: Say): void {
  const times = described.map(({ schema }) => {
    const before = process.cpuUsage();
    compile(schema);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  });
  const [first = 0] = times;
  const median = percentile(times, 0.5);
  say(
    `CPU of compiling ${times.length} schemas: the first ${first.toFixed(1)} ms, median ${median.toFixed(1)} ms, ` +
      `the slowest after the first ${Math.max(...times.slice(1)).toFixed(1)} ms.`,
  );
}
