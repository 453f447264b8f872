import { percentile } from '@customer-platform/kit/percentile.ts';
import type { Figures } from '../paced.ts';

/** Whether somebody listened. */
export type Side = 'without' | 'with';

/** What came of one round. */
export interface Round {
  readonly side: Side;
  readonly figures: Figures;
  /** CPU seconds by process. */
  readonly cpu: ReadonlyMap<string, number>;
}

const PARTS = [0.5, 0.95, 0.99] as const;
const MS = (value: number): string => `${value.toFixed(1)} ms`.padStart(12);

/** The sides of so many pairs of rounds: each begins every other pair, for what comes later finds another machine. */
export function sidesOf(pairs: number): Side[] {
  return Array.from({ length: pairs }, (_, at): Side[] =>
    at % 2 === 0 ? ['without', 'with'] : ['with', 'without'],
  ).flat();
}

/** The one in the middle; of two the mean; NaN of none. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const half = sorted.length / 2;
  return ((sorted[Math.ceil(half) - 1] ?? NaN) + (sorted[Math.floor(half)] ?? NaN)) / 2;
}

/** With over without, pair by pair. */
export function ratiosOf(rounds: readonly Round[], figureOf: (round: Round) => number): number[] {
  const of = (side: Side): Round[] => rounds.filter((each) => each.side === side);
  const without = of('without').map(figureOf);
  return of('with').map((round, at) => figureOf(round) / (without[at] ?? NaN));
}

/** One round in a line. */
export function roundLine({ side, figures }: Round): string {
  const parts = PARTS.map((part) => MS(percentile(figures.milliseconds, part)));
  return `  ${side.padEnd(8)}${parts.join('')}   ${figures.milliseconds.length} events, ${figures.refused} not answered 2xx`;
}

/** The medians of either side, how they compare, and what an event cost each process. */
export function summaryLines(rounds: readonly Round[]): string[] {
  const of = (side: Side): Round[] => rounds.filter((each) => each.side === side);
  const sides = (['without', 'with'] as const).map((side) => {
    const parts = PARTS.map((part) =>
      MS(median(of(side).map(({ figures }) => percentile(figures.milliseconds, part)))),
    );
    return `  ${side.padEnd(8)}${parts.join('')}`;
  });
  const compared = PARTS.map((part) => {
    const ratios = ratiosOf(rounds, ({ figures }) => percentile(figures.milliseconds, part));
    return `p${String(part * 100)} ${median(ratios).toFixed(3)}`;
  });
  const pairs = ratiosOf(rounds, ({ figures }) => percentile(figures.milliseconds, 0.95)).map((each) =>
    each.toFixed(2),
  );
  const names = [...new Set(rounds.flatMap(({ cpu }) => [...cpu.keys()]))].sort();
  const costs = names.map((name) => {
    const [without = NaN, listened = NaN] = (['without', 'with'] as const).map((side) =>
      median(of(side).map(({ cpu, figures }) => ((cpu.get(name) ?? 0) / figures.milliseconds.length) * 1e6)),
    );
    return `    ${name.padEnd(13)}${without.toFixed(0).padStart(7)} µs without${listened.toFixed(0).padStart(7)} µs with`;
  });
  return [
    `  ${'medians'.padEnd(8)}${['p50', 'p95', 'p99'].map((name) => name.padStart(12)).join('')}`,
    ...sides,
    `  with over without, median of the pairs: ${compared.join(', ')}; p95 of each pair: ${pairs.join(' ')}`,
    '  CPU of an event, with what goes on by itself:',
    ...costs,
  ];
}
