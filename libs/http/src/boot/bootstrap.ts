import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { ConfigError, demandPublicUrl, drainMs, readConfig, serviceConfig } from '@customer-platform/config';
import { log } from '../observe/log.js';
import { startTracing, stopTracing } from '../observe/tracing.js';
import { createApp, type BootOptions, type RunningApp } from './create-app.js';
import { BootError } from './route-table.js';

/** The part of `process` that a start and an end need; tests give their own. */
export interface ProcessHost {
  readonly stderr: { write(text: string): unknown };
  on(event: string, listener: (reason: unknown) => void): unknown;
  once(event: string, listener: (reason: unknown) => void): unknown;
  exit(code: number): void;
}

/** No shutdown takes longer, whatever hangs. */
const DEADLINE_MS = 9_500;

/**
 * Starts an app as a process: `await bootstrap({ module: 'core', root: CoreModule })` is its whole `main.ts`.
 * SIGTERM and SIGINT end it within 10 s: not ready, consumers out of their groups at once with what they had in hand
 * done, requests answered for DRAIN_SECONDS on connections that end with the answer, exit 0. A bad environment or a route without authorization: one sentence on stderr, exit 1.
 */
export async function bootstrap(options: BootOptions, host: ProcessHost = process): Promise<void> {
  try {
    const config = readConfig(serviceConfig, options.env);
    demandPublicUrl(config);
    await startTracing(options.module, config.OTEL_EXPORTER_OTLP_ENDPOINT);
    const openApi = options.openApi ?? committedOpenApi();
    const running = await createApp({ ...options, ...(openApi ? { openApi } : {}) });
    log.info({ module: options.module, url: running.url, internal_url: running.internalUrl }, 'listening');
    endOnSignal(host, running, drainMs(config));
  } catch (error) {
    if (!(error instanceof ConfigError) && !(error instanceof BootError))
      log.fatal({ err: error }, 'cannot start');
    host.stderr.write(`${options.module}: ${error instanceof Error ? error.message : String(error)}\n`);
    host.exit(1);
  }
}

function endOnSignal(host: ProcessHost, running: RunningApp, drainForMs: number): void {
  let ending = false;
  const end = async (reason: string, code: number) => {
    if (ending) return;
    ending = true;
    log.info({ reason }, 'stopping');
    setTimeout(() => host.exit(code || 1), DEADLINE_MS).unref();
    try {
      running.drain();
      await pause(drainForMs);
      await running.close();
      await stopTracing();
      host.exit(code);
    } catch (error) {
      log.error({ err: error }, 'the shutdown failed');
      host.exit(1);
    }
  };
  host.once('SIGTERM', () => void end('SIGTERM', 0));
  host.once('SIGINT', () => void end('SIGINT', 0));
  // A state nobody foresaw: better to be started anew than to go on with it.
  host.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'an error was caught by nobody');
    void end('uncaught error', 1);
  });
  host.on('unhandledRejection', (error) => {
    log.fatal({ err: error }, 'a rejection was handled by nobody');
    void end('unhandled rejection', 1);
  });
}

/** `apps/<module>/openapi.json`, beside the `dist` or `src` folder that the process was started from. */
function committedOpenApi(): string | undefined {
  const file = join(dirname(process.argv[1] ?? ''), '..', 'openapi.json');
  return existsSync(file) ? file : undefined;
}
