import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runK6 } from './k6.ts';
import type { Metric } from './management/report.ts';

/** A mix of calls, at one rate. */
interface MixedCalls {
  k6: string;
  script: string;
  target: string;
  key: string;
  rate: number;
  duration: number;
  /** What the calls take their ids and values from. */
  sample: object;
  /** Variables of this script alone. */
  more?: Record<string, string>;
}

/** What came of it. */
export interface MixedFigures {
  metrics: Record<string, Metric>;
  calls: number;
  dropped: number;
  failed: number;
}

/** Runs k6 over a mix of calls whose sample it reads from a file. */
export async function runMixed(mix: MixedCalls): Promise<MixedFigures> {
  const folder = mkdtempSync(join(tmpdir(), 'load-'));
  try {
    writeFileSync(join(folder, 'sample.json'), JSON.stringify(mix.sample));
    const environment = {
      TARGET: mix.target,
      KEY: mix.key,
      RATE: String(mix.rate),
      DURATION: String(mix.duration),
      SAMPLE: join(folder, 'sample.json'),
      RUN: `load-${Date.now()}`,
      ...mix.more,
    };
    const summary = join(folder, 'summary.json');
    await runK6(mix.k6, mix.script, environment, summary);
    const metrics = JSON.parse(readFileSync(summary, 'utf8')) as Record<string, Metric>;
    const { passes = 0, fails = 0 } = metrics['checks']?.values ?? {};
    const dropped = metrics['dropped_iterations']?.values['count'] ?? 0;
    return { metrics, calls: passes + fails, dropped, failed: fails };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
