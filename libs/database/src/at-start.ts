import { log, turns } from '@customer-platform/http';
import { DatabaseUnavailable } from './errors.js';

const PAUSE_MS = 1_000;
const FOR_MS = 60_000;

/**
 * What a process asks its database before it serves: for a minute again while the database does not answer, for one that
 * starts beside many others is slow, and a process that ends for it only starts them all anew.
 * @throws what `ask` throws else, and DatabaseUnavailable after the minute
 */
export async function askedAtStart<T>(ask: () => Promise<T>): Promise<T> {
  for await (const { isLast } of turns({ forMs: FOR_MS, pauseMs: PAUSE_MS }))
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof DatabaseUnavailable) || isLast) throw error;
      log.warn({ err: error }, 'The database does not answer yet; it is asked again');
    }
  throw new Error('The database was not asked');
}
