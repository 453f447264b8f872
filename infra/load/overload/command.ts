/**
 * `npm run load -- overload [--rate A..B:STEP] [--duration S]`: what a platform on one processor makes of more than it can
 * do. The knee is looked for first: the highest of the rates at which all is accepted, with a p95 below the budget. Then
 * one and a half and three times as much comes: what was accepted beside the knee, how quickly, and how quickly the rest
 * was refused.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { drained, type Platform } from '@customer-platform/kit/platform.ts';
import { runK6 } from '../k6.ts';
import { type Attempt, kneeOf } from '../rates.ts';
import { type Pinned, pinned } from './pinned.ts';

/** The load, and its steps. */
interface OverloadLoad {
  platform: Platform;
  k6: string;
  /** Rates at which the knee is looked for, from below. */
  rates: readonly number[];
  /** Seconds of each overload. */
  duration: number;
}

const TIMES = [1.5, 3];
const BUDGET_MS = 100;
const WARM_UP_S = 20;
const STEP_S = 12;
/** Processing may be behind after each part, and catches up before the next. */
const CATCH_UP_S = 180;

/** Figures of one rate. */
interface Answered {
  rate: number;
  accepted: Times;
  refused: Times;
  hasty: number;
  others: number;
  dropped: number;
}

interface Times {
  count: number;
  p95: number;
  p99: number;
}

/** Looks for the knee, goes beyond it, and prints a table. */
export async function runOverload(load: OverloadLoad, say: (line: string) => void): Promise<void> {
  const { platform, rates, duration } = load;
  const place = pinned(platform.base_url);
  try {
    say(`overload: the platform on one processor, k6 on another; ${WARM_UP_S} s to warm up …`);
    await sent(load, place, rates[0] ?? 0, WARM_UP_S);
    await drained(platform, CATCH_UP_S);
    say(HEAD);
    const knee = await findKnee(load, place, say);
    if (knee === undefined) throw new Error('None of these rates was held; begin lower: --rate A..B:STEP.');
    for (const times of TIMES) {
      const answered = await sent(load, place, Math.round(knee * times), duration);
      say(rowOf(`${times} ×`, answered, duration, knee));
      const began = performance.now();
      await drained(platform, CATCH_UP_S);
      say(`  all was processed ${((performance.now() - began) / 1_000).toFixed(1)} s later`);
    }
  } finally {
    place.release();
  }
}

async function findKnee(
  load: OverloadLoad,
  place: Pinned,
  say: (line: string) => void,
): Promise<number | undefined> {
  const attempts: Attempt[] = [];
  for (const rate of load.rates) {
    const answered = await sent(load, place, rate, STEP_S);
    const { accepted, refused, others, dropped } = answered;
    attempts.push({ rate, p95: accepted.p95, dropped, failed: refused.count + others });
    say(rowOf('', answered, STEP_S));
    await drained(load.platform, CATCH_UP_S);
    if (kneeOf(attempts.slice(-1), BUDGET_MS) === undefined) break;
  }
  return kneeOf(attempts, BUDGET_MS);
}

const COLUMNS = ['', 'asked/s', '202/s', 'of knee', 'p95', 'p99', '503/s', 'p95', 'p99', 'others', 'dropped'];
const HEAD = line(COLUMNS);

function line(cells: readonly string[]): string {
  return cells.map((cell) => cell.padStart(9)).join('');
}

function rowOf(name: string, answered: Answered, seconds: number, knee?: number): string {
  const { rate, accepted, refused, hasty, others, dropped } = answered;
  const ms = (value: number): string => (Number.isFinite(value) ? `${value.toFixed(0)} ms` : '–');
  const goodput = accepted.count / seconds;
  const row = line([
    name,
    String(rate),
    goodput.toFixed(0),
    knee === undefined ? '' : `${((goodput / knee) * 100).toFixed(0)} %`,
    ms(accepted.p95),
    ms(accepted.p99),
    (refused.count / seconds).toFixed(0),
    ms(refused.p95),
    ms(refused.p99),
    String(others),
    String(dropped),
  ]);
  return hasty === 0 ? row : `${row}  ${hasty} without Retry-After`;
}

async function sent(
  { platform, k6 }: OverloadLoad,
  { prefix }: Pinned,
  rate: number,
  seconds: number,
): Promise<Answered> {
  const folder = mkdtempSync(join(tmpdir(), 'load-'));
  const summary = join(folder, 'summary.json');
  const environment = {
    TARGET: platform.base_url,
    KEY: platform.ingestion_key,
    RATE: String(rate),
    DURATION: String(seconds),
    RUN: `overload-${Date.now()}`,
  };
  try {
    await runK6(k6, join(import.meta.dirname, 'overload.k6.js'), environment, summary, prefix);
    const metrics = JSON.parse(readFileSync(summary, 'utf8')) as Record<
      string,
      { values: Record<string, number> }
    >;
    const count = (metric: string): number => metrics[metric]?.values['count'] ?? 0;
    const times = (metric: string): Times => {
      const values = metrics[metric]?.values ?? {};
      return { count: count(metric), p95: values['p(95)'] ?? NaN, p99: values['p(99)'] ?? NaN };
    };
    return {
      rate,
      accepted: times('accepted'),
      refused: times('refused'),
      hasty: count('without_retry_after'),
      others: count('others'),
      dropped: count('dropped_iterations'),
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
