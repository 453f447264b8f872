import type { Server as SecureServer } from 'node:https';
import { asyncApiDocument } from '@customer-platform/events';
import { pino } from 'pino';
import { startGateway } from './gateway.js';
import { readGatewayConfig, readTls } from './gateway.config.js';
import { startOperations } from './operations.js';

const log = pino({ name: 'gateway', level: process.env['LOG_LEVEL'] ?? 'info' });

let config;
try {
  config = readGatewayConfig();
} catch (error) {
  log.fatal((error as Error).message);
  process.exit(1);
}

let draining = false;
const gateway = await startGateway(config, {
  version: process.env['RELEASE'] ?? '2026.11',
  asyncApi: asyncApiDocument(),
});
const operations = await startOperations(
  gateway.observed,
  { host: config.host, port: config.internalPort },
  () => draining,
);
log.info({ url: gateway.url, operations: operations.port }, 'listening');

async function stop(signal: string): Promise<void> {
  if (draining) return;
  draining = true;
  log.info({ signal }, 'draining');
  await gateway.close();
  operations.server.close();
  operations.server.closeAllConnections();
  log.info('stopped');
}

process.once('SIGTERM', () => void stop('SIGTERM'));
process.once('SIGINT', () => void stop('SIGINT'));
process.on('SIGHUP', () => {
  const renewed = readTls(process.env['TLS_CERT_FILE'], process.env['TLS_KEY_FILE']);
  if (renewed !== undefined) (gateway.server as SecureServer).setSecureContext(renewed);
});
