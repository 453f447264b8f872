import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { destroyConnections } from '@customer-platform/config';
import { pino } from 'pino';
import { type ConsoleConfig, readConsoleConfig } from './console.config.js';
import { readBuiltFiles } from './built-files.js';
import { startConsole } from './console-server.js';
import { Observed, startOperations } from './operations.js';

/** What is still answered when all is drained has so long: with up to 3 s before, all is over within ten. */
const GRACE_MS = 6_000;

const log = pino({ name: 'console' });
const config = readOrExit();
log.level = config.logLevel;
const observed = new Observed();
let draining = false;
const { host, port, internalPort, release, tls } = config;
const running = await startConsole({
  host,
  port,
  tls,
  release,
  files: readBuiltFiles(join(import.meta.dirname, 'web')),
  answered: (status) => observed.record(status),
});
const operations = await startOperations(observed, { host, port: internalPort, tls }, () => draining);
log.info({ url: running.url }, 'listening');

process.once('SIGTERM', () => end('SIGTERM'));
process.once('SIGINT', () => end('SIGINT'));

function readOrExit(): ConsoleConfig {
  try {
    return readConsoleConfig(undefined, (error) =>
      log.error({ err: error }, 'The renewed files of MODULES_TLS_* cannot be used; the former go on'),
    );
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`);
    process.exit(1);
  }
}

function end(signal: string): void {
  stop(signal).catch((error: unknown) => {
    log.fatal({ err: error }, 'could not end in order');
    process.exit(1);
  });
}

async function stop(signal: string): Promise<void> {
  if (draining) return;
  draining = true;
  log.info({ signal }, 'draining');
  // Whatever hangs: nothing may keep the process beyond ten seconds.
  setTimeout(() => process.exit(1), 9_500).unref();
  running.drain();
  await pause(config.drainMs);
  await running.close(GRACE_MS);
  operations.close();
  destroyConnections(operations);
  log.info('stopped');
}
