import type { LoggerService } from '@nestjs/common';
import { pino } from 'pino';
import { initialLogLevel } from '@customer-platform/config';
import { currentCorrelationId, currentOrganizationId } from './correlation.js';

/** Keys that are blanked wherever a line would carry them: a second fence, the first is not to log them. */
const SECRETS = ['authorization', 'cookie', 'password', 'secret', 'token', 'key', 'api_key', 'client_secret'];

/**
 * The log: JSON lines with correlation id and organization. Never give it a secret, a request body, a query
 * string or a person's data; ids of rows are fine.
 */
export const log = pino({
  level: initialLogLevel(),
  base: undefined,
  timestamp: pino.stdTimeFunctions.isoTime,
  formatters: { level: (label) => ({ level: label }) },
  redact: { paths: SECRETS.flatMap((name) => [name, `*.${name}`]), censor: '[removed]' },
  mixin() {
    const correlationId = currentCorrelationId();
    if (correlationId === undefined) return {};
    const organizationId = currentOrganizationId();
    return { correlation_id: correlationId, ...(organizationId ? { organization_id: organizationId } : {}) };
  },
});

/** Nest's own messages, in the same form. Its chatter about modules and routes is for debugging only. */
export const nestLogger: LoggerService = {
  log: (message: unknown, context?: unknown) => log.debug({ source: context }, String(message)),
  verbose: (message: unknown, context?: unknown) => log.trace({ source: context }, String(message)),
  debug: (message: unknown, context?: unknown) => log.debug({ source: context }, String(message)),
  warn: (message: unknown, context?: unknown) => log.warn({ source: context }, String(message)),
  error: (message: unknown, ...rest: unknown[]) => log.error({ source: rest.at(-1) }, String(message)),
  fatal: (message: unknown, ...rest: unknown[]) => log.fatal({ source: rest.at(-1) }, String(message)),
};
