import { log } from '@customer-platform/http';
import { logLevel, type logCreator } from 'kafkajs';

const SAY_AGAIN_MS = 10_000;

/**
 * kafkajs's own log as lines of ours. What it calls an error is a retry to us (the supervisor says what matters), and
 * during an outage it repeats itself many times a second: the same line is said once in ten seconds.
 */
export const pinoLogCreator: logCreator = () => {
  const said = new Map<string, number>();
  return ({ namespace, level, log: entry }) => {
    if (level > logLevel.ERROR) {
      log.trace({ kafka: namespace, broker: entry.broker as unknown }, entry.message);
      return;
    }
    const line = `${namespace} ${entry.message}`;
    const now = Date.now();
    if (now - (said.get(line) ?? 0) < SAY_AGAIN_MS) return;
    if (said.size > 200) said.clear();
    said.set(line, now);
    log.warn(
      { kafka: namespace, broker: entry.broker as unknown, error: entry.error as unknown },
      entry.message,
    );
  };
};
