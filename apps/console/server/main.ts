import { join } from 'node:path';
import { ProcessEnd, readOrExit } from '@customer-platform/config';
import { pino } from 'pino';
import { readConsoleConfig } from './console.config.js';
import { readBuiltFiles } from './built-files.js';
import { startConsole } from './console-server.js';
import { Observed, startOperations } from './operations.js';

const log = pino({ name: 'console' });
const config = readOrExit(() =>
  readConsoleConfig(undefined, (error) =>
    log.error({ err: error }, 'The renewed files of MODULES_TLS_* cannot be used; the former go on'),
  ),
);
log.level = config.logLevel;
const observed = new Observed();
const ending = new ProcessEnd(log, config.drainMs);
const { host, port, internalPort, release, tls } = config;
const running = await startConsole({
  host,
  port,
  tls,
  release,
  files: readBuiltFiles(join(import.meta.dirname, 'web')),
  answered: (status) => observed.record(status),
});
const operations = await startOperations(
  observed,
  { host, port: internalPort, tls },
  () => ending.isDraining,
);
log.info({ url: running.url }, 'listening');

ending.of({ running, operations });
