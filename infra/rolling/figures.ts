import { onConnection } from '@customer-platform/kit/databases.ts';
import type { Platform } from '@customer-platform/kit/platform.ts';
import type { ClientLog } from '@customer-platform/kit/steady-client.ts';
import { walk } from '@customer-platform/kit/verdict.ts';
import type { Read } from './readers.ts';

/** What happened from one instant to another, by this machine's clock in milliseconds. */
export interface Window {
  readonly name: string;
  readonly from: number;
  readonly to: number;
  /** From the signal to the end of the process that was replaced. */
  readonly endedWithinMs?: number;
  readonly orderly?: boolean;
}

/** A row of the table. */
interface Figures extends Window {
  readonly requests: number;
  readonly failures: string[];
  /** The slowest answer, in milliseconds. */
  readonly slowest: number;
  /** How long the event that waited longest waited from its 202 until it was stored, had its points, its mail. */
  readonly stored: number;
  readonly points: number;
  readonly mail: number;
  /** The longest time in which no event at all was stored. */
  readonly standstill: number;
}

interface Effect {
  /** The event. */
  readonly id: string;
  /** When it had it. */
  readonly at: number;
}

/** When each event was stored, had its points and its mail. */
export interface Effects {
  readonly stored: Effect[];
  readonly points: Effect[];
  readonly mail: Effect[];
}

/** Reads all effects; to be called when the platform has come to rest. */
export async function readEffects(platform: Platform, coreDatabase: string): Promise<Effects> {
  return onConnection(coreDatabase, async (client) => {
    const { rows } = await client.query<{ id: string; at: Date }>(
      'SELECT id, created_at AS at FROM events WHERE organization_id = $1',
      [platform.organization_id],
    );
    const ledger = await walk<{ event_id: string | null; created_at: string }>(
      platform,
      '/v1/loyalty/transactions?',
    );
    const sends = await walk<{ correlation_id: string; created_at: string }>(
      platform,
      '/v1/messaging/sends?',
    );
    return {
      stored: rows.map(({ id, at }) => ({ id, at: at.getTime() })),
      points: ledger.map(({ event_id, created_at }) => ({ id: event_id ?? '', at: Date.parse(created_at) })),
      mail: sends.map(({ correlation_id, created_at }) => ({
        id: correlation_id,
        at: Date.parse(created_at),
      })),
    };
  });
}

export function figuresOf(
  window: Window,
  { attempts }: Pick<ClientLog, 'attempts'>,
  reads: readonly Read[],
  effects: Effects,
): Figures {
  const within = ({ at }: { at: number }): boolean => at >= window.from && at < window.to;
  const [tracked, read] = [attempts.filter(within), reads.filter(within)];
  const accepted = new Map(tracked.flatMap(({ id, at }) => (id === undefined ? [] : [[id, at] as const])));
  const longest = (of: readonly Effect[]): number =>
    of.reduce((most, { id, at }) => Math.max(most, at - (accepted.get(id) ?? Infinity)), 0);
  return {
    ...window,
    requests: tracked.length + read.length,
    failures: [
      ...tracked.flatMap(({ hiccup }) => hiccup ?? []),
      ...read.flatMap(({ failure }) => failure ?? []),
    ],
    slowest: [...tracked, ...read].reduce((most, { ms }) => Math.max(most, ms), 0),
    stored: longest(effects.stored),
    points: longest(effects.points),
    mail: longest(effects.mail),
    standstill: longestGap(effects.stored.filter(within).map(({ at }) => at)),
  };
}

function longestGap(instants: readonly number[]): number {
  const sorted = [...instants].sort((a, b) => a - b);
  return sorted.reduce((most, at, index) => Math.max(most, at - (sorted[index - 1] ?? at)), 0);
}

const COLUMNS: readonly (readonly [head: string, width: number, cell: (row: Figures) => string])[] = [
  ['restarted', 16, ({ name }) => name],
  ['requests', 9, ({ requests }) => String(requests)],
  ['failed', 7, ({ failures }) => String(failures.length)],
  ['slowest', 9, ({ slowest }) => `${slowest.toFixed(0)} ms`],
  ['202 → stored', 13, ({ stored }) => `${stored.toFixed(0)} ms`],
  ['→ points', 9, ({ points }) => `${points.toFixed(0)} ms`],
  ['→ mail', 9, ({ mail }) => `${mail.toFixed(0)} ms`],
  ['none stored for', 16, ({ standstill }) => `${standstill.toFixed(0)} ms`],
  ['ended within', 13, ({ endedWithinMs: ms }) => (ms === undefined ? '' : `${ms.toFixed(0)} ms`)],
];

/** The table, a line each. */
export function tableOf(rows: readonly Figures[]): string[] {
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, at) =>
        at === 0 ? cell.padEnd(COLUMNS[0]?.[1] ?? 0) : cell.padStart(COLUMNS[at]?.[1] ?? 0),
      )
      .join('  ');
  return [
    line(COLUMNS.map(([head]) => head)),
    ...rows.map((row) => line(COLUMNS.map(([, , cell]) => cell(row)))),
  ];
}
