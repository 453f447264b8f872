import type { Server as SecureServer } from 'node:https';
import { ProcessEnd, readOrExit, VERSION } from '@customer-platform/config';
import { asyncApiDocument } from '@customer-platform/events';
import { pino } from 'pino';
import { readGatewayConfig, readTls } from './gateway.config.js';
import { startGateway } from './gateway.js';
import { startOperations } from './operations.js';

const log = pino({ name: 'gateway' });
const config = readOrExit(() =>
  readGatewayConfig(undefined, (error) =>
    log.error({ err: error }, 'The renewed files of MODULES_TLS_* cannot be used; the former go on'),
  ),
);
log.level = config.logLevel;
const ending = new ProcessEnd(log, config.drainMs);
const gateway = await startGateway(config, {
  asyncApi: asyncApiDocument(VERSION),
  onFailure: (module, problem, correlationId) =>
    log.warn(
      { module, code: problem.code, correlation_id: correlationId, err: problem.cause },
      'a module failed',
    ),
});
const operations = await startOperations(
  gateway.observed,
  { host: config.host, port: config.internalPort, tls: config.modulesTls },
  () => ending.isDraining,
);
log.info({ url: gateway.url, operations: operations.port }, 'listening');

ending.of({ running: gateway, operations: operations.server });
// A state nobody foresaw: better started anew than gone on with, but not before what runs has been answered.
for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
  process.on(event, (error: unknown) => {
    log.fatal({ err: error, event }, 'an error was caught by nobody');
    process.exitCode = 1;
    ending.begin(event);
  });
}
process.on('SIGHUP', () => {
  if (config.tlsFiles) (gateway.server as SecureServer).setSecureContext(readTls(config.tlsFiles));
});
