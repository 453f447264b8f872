import { passesInTime } from './passes-in-time.js';

/**
 * Something the process needs once before it can serve. `check` throws or rejects while it is not there, and is not asked
 * again after it has passed: what is away later is away for all instances, and taking them out of service would take the
 * rest of what they do away too. That is a metric and an alert; see `registerDependency`.
 */
interface ReadinessCheck {
  name: string;
  check(): Promise<void> | void;
}

const checks = new Set<ReadinessCheck>();
const passed = new WeakSet<ReadinessCheck>();

/** Adds a check to `/health/ready`; the answer takes it away again. */
export function registerReadiness(check: ReadinessCheck): () => void {
  checks.add(check);
  return () => checks.delete(check);
}

/** Whether every check has passed once; a check that does not answer within 2 s has not. */
export async function readiness(): Promise<{ ready: boolean; checks: Record<string, 'ok' | 'failing'> }> {
  const verdicts = await Promise.all(
    [...checks].map(async (check) => [check.name, (await passes(check)) ? 'ok' : 'failing'] as const),
  );
  return { ready: verdicts.every(([, verdict]) => verdict === 'ok'), checks: Object.fromEntries(verdicts) };
}

async function passes(check: ReadinessCheck): Promise<boolean> {
  if (!passed.has(check) && (await passesInTime(() => check.check()))) passed.add(check);
  return passed.has(check);
}
