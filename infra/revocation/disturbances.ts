import { setTimeout as pause } from 'node:timers/promises';
import type { RunningPlatform, SecondInstances } from './instances.ts';
import type { Disturbance } from './round.ts';

/** A fill's answer is delivered up to so long after the 2xx; a resolve lives for 500 ms. */
const LATEST_DELIVERY_MS = 450;
/** An instance is cut off up to so long before the right is lost. */
const EARLIEST_CUT_MS = 600;
const HELD_WITHIN_MS = 10_000;

/** Nothing. */
export const UNDISTURBED: Disturbance = { name: 'all is well' };

/** The broker is there and does nothing: every connection hangs. */
export function kafkaStopped(platform: RunningPlatform): Disturbance {
  const signal = (name: NodeJS.Signals): void => void process.kill(-platform.pidOf('Kafka'), name);
  return {
    name: 'Kafka stopped',
    begin: () => signal('SIGSTOP'),
    end: () => signal('SIGCONT'),
    withoutQueue: true,
  };
}

/**
 * The first look-up of the credential by each second instance is answered by the registry while the right is held, and
 * its answer delivered when it has been lost.
 */
export function fillPaused(second: SecondInstances): Disturbance {
  return {
    name: 'one fill paused across the change',
    coldAtFirst: ({ instance }) => instance.which === 'second',
    beforeLoss: async () => {
      for (const link of second.links) link.hold();
      const deadline = performance.now() + HELD_WITHIN_MS;
      while (second.links.some(({ held }) => held === 0)) {
        if (performance.now() > deadline) throw new Error('A second instance has asked for nothing.');
        await pause(5);
      }
    },
    afterLoss: async () => {
      await pause(Math.random() * LATEST_DELIVERY_MS);
      for (const link of second.links) link.release();
    },
    mend: () => {
      for (const link of second.links) link.release();
    },
  };
}

/** The second instances reach no registry, from shortly before the loss on. */
export function oneCutOff(second: SecondInstances): Disturbance {
  const cut = (off: boolean): void => {
    for (const link of second.links) link.cut(off);
  };
  return {
    name: 'one instance of each module cut off from identity',
    beforeLoss: async () => {
      cut(true);
      await pause(Math.random() * EARLIEST_CUT_MS);
    },
    mend: () => cut(false),
    cutsOff: ({ instance }) => instance.which === 'second',
  };
}
