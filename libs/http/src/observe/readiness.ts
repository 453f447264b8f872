/**
 * Something the process needs once before it can serve. `check` throws or rejects while it is not there, and is not asked
 * again after it has passed: what is away later is away for all instances, and taking them out of service would take the
 * rest of what they do away too. That is a metric and an alert; see `registerDependency`.
 */
export interface ReadinessCheck {
  name: string;
  check(): Promise<void> | void;
}

const CHECK_TIMEOUT_MS = 2_000;
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
  if (passed.has(check)) return true;
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error('no answer')), CHECK_TIMEOUT_MS);
  try {
    await Promise.race([(async () => check.check())(), late]);
    passed.add(check);
    return true;
  } catch {
    return false; // why is in the failing part's own log; the endpoint is public
  } finally {
    clearTimeout(timer);
  }
}
