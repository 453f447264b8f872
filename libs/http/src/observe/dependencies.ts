import { Gauge } from 'prom-client';
import { metrics } from './metrics.js';

/** Something outside of the process that it works with. `check` throws or rejects while it does not answer. */
export interface Dependency {
  /** As the metric calls it: `database`, `kafka`, `authorization`. */
  name: string;
  check(): Promise<void> | void;
}

/** A scrape has to end too. */
const CHECK_TIMEOUT_MS = 2_000;
const dependencies = new Set<Dependency>();

const up = new Gauge({
  name: 'dependency_up',
  help: 'Whether what the process works with answers: 1, or 0',
  labelNames: ['dependency'],
  registers: [metrics],
  async collect() {
    const found = await Promise.all(
      [...dependencies].map(async (each) => [each.name, await answers(each)] as const),
    );
    for (const [dependency, answered] of found) this.set({ dependency }, answered ? 1 : 0);
  },
});

/** Shows at every scrape of `/metrics` whether it answers; what is returned ends that. */
export function registerDependency(dependency: Dependency): () => void {
  dependencies.add(dependency);
  return () => {
    dependencies.delete(dependency);
    up.remove({ dependency: dependency.name });
  };
}

async function answers(dependency: Dependency): Promise<boolean> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error('no answer')), CHECK_TIMEOUT_MS);
  try {
    await Promise.race([(async () => dependency.check())(), late]);
    return true;
  } catch {
    return false; // the part itself logs why
  } finally {
    clearTimeout(timer);
  }
}
