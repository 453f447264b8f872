/** Calls that begin when it is their time, and their figures. */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { percentile } from '@customer-platform/kit/percentile.ts';

/** How calls of one kind were answered. */
export interface Figures {
  milliseconds: number[];
  refused: number;
}

/** An event that nothing comes of. */
export function anEvent(): object {
  return {
    event: 'load_paced',
    external_id: 'load-paced',
    idempotency_key: randomUUID(),
    occurred_at: new Date().toISOString(),
  };
}

/** One call, as JSON. */
export function call(url: string, key: string | undefined, body?: object): Promise<Response> {
  return fetch(url, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

/** Calls begin when it is their time, however late others are: what is slow cannot slow down what comes after it. */
export async function paced(
  count: number,
  seconds: number,
  begin: (at: number) => Promise<Response>,
): Promise<Figures> {
  const figures: Figures = { milliseconds: [], refused: 0 };
  const start = performance.now();
  const calls: Promise<void>[] = [];
  for (let at = 0; at < count; at += 1) {
    const due = start + (at * seconds * 1_000) / count;
    const early = due - performance.now();
    if (early > 1) await pause(early);
    calls.push(
      begin(at)
        .then(async (response) => {
          await response.arrayBuffer();
          if (!response.ok) figures.refused += 1;
        })
        .catch(() => (figures.refused += 1))
        .then(() => void figures.milliseconds.push(performance.now() - due)),
    );
  }
  await Promise.all(calls);
  return figures;
}

/** A line each. */
export function printFigures(figures: Record<string, Figures>, say: (line: string) => void): void {
  for (const [name, each] of Object.entries(figures)) {
    const at = (part: number): string => `${percentile(each.milliseconds, part).toFixed(1)} ms`;
    say(
      `  ${name.padEnd(18)}${String(each.milliseconds.length).padStart(6)} calls, p50 ${at(0.5)}, p95 ${at(0.95)}, ` +
        `p99 ${at(0.99)}, ${each.refused} not answered 2xx`,
    );
  }
}
