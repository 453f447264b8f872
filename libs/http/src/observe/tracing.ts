import { log } from './log.js';

/** Placeholder */
export async function startTracing(module: string, endpoint: string | undefined): Promise<void> {
  if (endpoint === undefined) return;
  log.info({ module, endpoint }, 'tracing');
}
