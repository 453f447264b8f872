/**
 * `npm run load -- management [--rate N] [--duration S]`: every list, read and write of core, mixed, in the demo
 * organization of the running platform; best after `npm run load -- seed`. What it makes it purges again.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Platform } from '@customer-platform/client/platform.ts';
import { runK6 } from '../k6.ts';
import { LIFE, READS, WRITES } from './calls.js';
import { figuresOf, linesOf, type Metric } from './report.ts';
import { takeSample } from './sample.ts';

/** p95 that is aimed at (the public contract, "Latency"); the budget is a second. */
const AIM_MS = 150;

/** What is loaded, and with what. */
export interface ManagementLoad {
  platform: Platform;
  k6: string;
  rate: number;
  duration: number;
}

/** Routes of core's management that no call is of. */
export function leftOut(routes: readonly string[]): string[] {
  const called = new Set([...READS, ...LIFE, ...WRITES].map(({ route }) => route));
  return routes.filter(
    (route) => /^[A-Z]+ \/v1\/core\/(?!track$|identify$|batch$|members\/)/.test(route) && !called.has(route),
  );
}

/** Runs it and prints the figures of each call. */
export async function runManagement(load: ManagementLoad, say: (line: string) => void): Promise<void> {
  const { platform, k6, rate, duration } = load;
  say(`management: ${rate} requests/s of core's management, mixed, for ${duration} s`);
  const folder = mkdtempSync(join(tmpdir(), 'load-'));
  try {
    const sample = await takeSample(platform, say);
    writeFileSync(join(folder, 'sample.json'), JSON.stringify(sample));
    const environment = {
      TARGET: platform.base_url,
      KEY: platform.admin_key,
      RATE: String(rate),
      DURATION: String(duration),
      SAMPLE: join(folder, 'sample.json'),
      RUN: `load-${Date.now()}`,
    };
    const summary = join(folder, 'summary.json');
    await runK6(k6, join(import.meta.dirname, 'management.k6.js'), environment, summary);
    const metrics = JSON.parse(readFileSync(summary, 'utf8')) as Record<string, Metric>;
    for (const line of linesOf(figuresOf(metrics), AIM_MS)) say(line);
    const { passes = 0, fails = 0 } = metrics['checks']?.values ?? {};
    const dropped = metrics['dropped_iterations']?.values['count'] ?? 0;
    say(`  ${passes + fails} calls, ${dropped} dropped, ${fails} not answered as they should be`);
    const others = leftOut(sample.routes);
    if (others.length > 0) say(`  not called: ${others.join(', ')}`);
    if (fails > 0 || dropped > 0) process.exitCode = 1;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
