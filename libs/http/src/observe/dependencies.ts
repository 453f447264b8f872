import { Gauge } from 'prom-client';
import { metrics } from './metrics.js';
import { passesInTime } from './passes-in-time.js';

/** Something outside of the process that it works with. `check` throws or rejects while it does not answer. */
interface Dependency {
  /** As the metric calls it: `database`, `kafka`, `authorization`. */
  name: string;
  check(): Promise<void> | void;
}

const dependencies = new Set<Dependency>();

const up = new Gauge({
  name: 'dependency_up',
  help: 'Whether what the process works with answers: 1, or 0',
  labelNames: ['dependency'],
  registers: [metrics],
  async collect() {
    const found = await Promise.all(
      [...dependencies].map(async (each) => [each.name, await passesInTime(() => each.check())] as const),
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
