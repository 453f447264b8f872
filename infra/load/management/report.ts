/** A metric of k6's summary. */
export interface Metric {
  values: Record<string, number>;
}

/** What one call came to, in milliseconds. */
export interface CallFigures {
  name: string;
  requests: number;
  p50: number;
  p95: number;
  max: number;
}

const CALL = /^http_req_duration\{call:(.*)\}$/;

/** The figures of each call that was made, the slowest first. */
export function figuresOf(metrics: Readonly<Record<string, Metric>>): CallFigures[] {
  return Object.entries(metrics)
    .flatMap(([key, { values }]) => {
      const name = CALL.exec(key)?.[1];
      const { count: requests = 0, med: p50 = NaN, 'p(95)': p95 = NaN, max = NaN } = values;
      return name === undefined || requests === 0 ? [] : [{ name, requests, p50, p95, max }];
    })
    .sort((a, b) => b.p95 - a.p95);
}

const ms = (value: number): string => value.toFixed(value < 10 ? 1 : 0).padStart(7);

/** A line for each call, then those over `aim`. */
export function callLines(figures: readonly CallFigures[], aim: number): string[] {
  const slow = figures.filter(({ p95 }) => !(p95 < aim));
  return [
    `  ${'call'.padEnd(38)} ${'count'.padStart(6)} ${'p50'.padStart(7)} ${'p95'.padStart(7)} ${'max'.padStart(7)}  (ms)`,
    ...figures.map(
      ({ name, requests, p50, p95, max }) =>
        `  ${name.padEnd(38)} ${String(requests).padStart(6)} ${ms(p50)} ${ms(p95)} ${ms(max)}`,
    ),
    slow.length === 0
      ? `  every call's p95 is below ${aim} ms`
      : `  p95 not below ${aim} ms: ${slow.map(({ name }) => name).join('; ')}`,
  ];
}

/** How page 2,000 of contacts and of events compares with page 1. */
export function depthLine(figures: readonly CallFigures[]): string {
  const of = (name: string) => figures.find((each) => each.name === name)?.p50 ?? NaN;
  const ratio = (list: string): string => (of(`${list} page 2000`) / of(`${list} page 1`)).toFixed(2);
  return `  page 2,000 takes ${ratio('contacts')} times what page 1 takes, of contacts; ${ratio('events')} times, of events (p50)`;
}
