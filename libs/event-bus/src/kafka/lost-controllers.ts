import { createRequire } from 'node:module';

/** What a client knows of the brokers, as far as this file is concerned. */
interface Cluster {
  readonly brokerPool: { findConnectedBroker(): Promise<unknown> };
  findControllerBroker: (this: Cluster) => Promise<unknown>;
}

let repaired = false;

/**
 * kafkajs 2.2.4 has a new producer's id given by the broker that is named the controller. Kafka names any broker that it
 * takes for alive, for seconds also one that has died: then no producer began, not even for partitions whose leaders
 * are well. Any broker gives such an id, and passes on to the controller what is for it.
 */
export function askAnotherWhereTheControllerIsLost(): void {
  if (repaired) return;
  repaired = true;
  const load = createRequire(import.meta.url);
  const { prototype } = load('kafkajs/src/cluster/index.js') as { prototype: Cluster };
  const { findControllerBroker } = prototype;
  prototype.findControllerBroker = async function (this: Cluster) {
    try {
      return await findControllerBroker.call(this);
    } catch {
      return await this.brokerPool.findConnectedBroker();
    }
  };
}
