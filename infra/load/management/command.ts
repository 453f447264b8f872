/**
 * `npm run load -- management [--rate N] [--duration S]`: every list, read and write of core, mixed, in the demo
 * organization of the running platform; best after `npm run load -- seed`. What it makes it purges again.
 */
import { join } from 'node:path';
import type { Platform } from '@customer-platform/kit/platform.ts';
import { runMixed } from '../mixed-calls.ts';
import { LIFE, READS, SEGMENT_LIFE, WRITES } from './calls.js';
import { callLines, depthLine, figuresOf } from './report.ts';
import { purgeSegments, takeSample } from './sample.ts';

/** p95 that is aimed at (the public contract, "Latency"); the budget is a second. */
const AIM_MS = 150;

/** What is loaded, and with what. */
interface ManagementLoad {
  platform: Platform;
  k6: string;
  rate: number;
  duration: number;
}

/** Routes of core's management that no call is of. */
export function leftOut(routes: readonly string[]): string[] {
  const called = new Set([...READS, ...LIFE, ...SEGMENT_LIFE, ...WRITES].map(({ route }) => route));
  return routes.filter(
    (route) => /^[A-Z]+ \/v1\/core\/(?!track$|identify$|batch$|members\/)/.test(route) && !called.has(route),
  );
}

/** Runs it and prints the figures of each call. */
export async function runManagement(load: ManagementLoad, say: (line: string) => void): Promise<void> {
  const { platform, k6, rate, duration } = load;
  say(`management: ${rate} requests/s of core's management, mixed, for ${duration} s`);
  const sample = await takeSample(platform, say);
  const { metrics, calls, dropped, failed } = await runMixed({
    k6,
    script: join(import.meta.dirname, 'management.k6.js'),
    target: platform.base_url,
    key: platform.admin_key,
    rate,
    duration,
    sample,
  });
  await purgeSegments(platform);
  const figures = figuresOf(metrics);
  for (const line of [...callLines(figures, AIM_MS), depthLine(figures)]) say(line);
  say(`  ${calls} calls, ${dropped} dropped, ${failed} not answered as they should be`);
  const others = leftOut(sample.routes);
  if (others.length > 0) say(`  not called: ${others.join(', ')}`);
  if (failed > 0 || dropped > 0) process.exitCode = 1;
}
