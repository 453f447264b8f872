/**
 * Files of the application that come when they are asked for, and may be gone by then: a page that stays open outlives
 * its release, and while one release replaces another a file may be asked of a server that has only the other one's.
 */
import { ANSWERED_WITHIN_MS } from '../session/configuration.ts';

/** Where it is kept, for the tab, from which releases' pages it was loaded anew already. */
const RENEWED = 'console-renewed';
const HOME = '/console/';
const missing = new WeakSet<Error>();

/** What Vite tells the window when a file does not come. */
interface PreloadError extends Event {
  payload: Error;
}

/** Notes which errors mean that a file did not come. Called once, before anything is loaded later. */
export function watchFiles(page: EventTarget): void {
  page.addEventListener('vite:preloadError', (event) => {
    const { payload } = event as PreloadError;
    missing.add(payload);
    // By its message the router would know it, and load the page anew at once: without a network, too, which ends it.
    payload.message = `A file of the Console did not come: ${payload.message}`;
  });
}

/** Whether the error means that a file of the application did not come. */
export function isMissingFile(error: unknown): boolean {
  return error instanceof Error && missing.has(error);
}

/** What of a browser's page the renewal needs. */
export interface RenewablePage {
  readonly location: Pick<Location, 'reload'>;
  readonly sessionStorage: Pick<Storage, 'getItem' | 'setItem'>;
  readonly document: Pick<Document, 'querySelector'>;
  readonly fetch: typeof fetch;
}

/**
 * Loads the page anew at its address, where the Console can be reached; not twice from the same files, unless a person
 * asks for it. Answers false where nothing is done: what stands on the page stays.
 */
export async function renew(page: RenewablePage, asked = false): Promise<boolean> {
  const entry = page.document.querySelector<HTMLScriptElement>('script[type="module"]')?.src ?? '';
  const before = page.sessionStorage.getItem(RENEWED)?.split(' ') ?? [];
  // All of them: two releases that answer by turns must not send a page back and forth.
  if (!asked && before.includes(entry)) return false;
  if (!(await isReachable(page))) return false;
  page.sessionStorage.setItem(RENEWED, [...new Set([...before, entry])].join(' '));
  page.location.reload();
  return true;
}

/** Offline, or while nobody serves the Console, a page that is loaded anew is lost. */
async function isReachable(page: RenewablePage): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(ANSWERED_WITHIN_MS);
    const answer = await page.fetch(HOME, { cache: 'no-store', credentials: 'omit', signal });
    await answer.text();
    return answer.ok;
  } catch {
    return false;
  }
}
