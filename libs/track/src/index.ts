import { type Environment, surroundings } from './environment.js';
import { LocalStore, MemoryStore, type Store, type TextStorage } from './store.js';
import { Tracker, type TrackerOptions } from './tracker.js';

export type { EventOptions, IdentifyOptions, Properties, SentEvent } from './event.js';
export type { Failure } from './sender.js';
export type { Kept } from './store.js';
export {
  Tracker,
  type Consent,
  type Counts,
  type Drop,
  type DropReason,
  type TrackerOptions,
} from './tracker.js';

/** How a tracker of a page is made. */
export interface PageTrackerOptions extends TrackerOptions {
  /** Default `local`: the queue outlives the page. Without a page, as in Node and in workers, there is `memory` alone. */
  storage?: 'local' | 'memory';
  /**
   * The queue's name. Pages and trackers with the same name share one queue, whatever their keys: what was queued with a
   * key that is no longer in use is sent with the next one. Keys of several organizations need several names. Without one
   * each key has a queue of its own.
   */
  queue?: string;
}

/** What is used of a page, where there is one. */
interface Page {
  document?: { visibilityState: string; addEventListener: Listening; removeEventListener: Listening };
  localStorage?: TextStorage;
  navigator?: { locks?: { request(name: string, work: () => Promise<void>): Promise<void> } };
  addEventListener?: Listening;
  removeEventListener?: Listening;
}
type Listening = (type: string, listener: (event: { persisted?: boolean }) => void) => void;

/**
 * Makes the sender of events for this page, worker or process.
 * @throws TypeError if `url` is no URL, or `key` no text for a header; URIError if `queue` holds half a character
 */
export function createTracker(options: PageTrackerOptions): Tracker {
  const page = globalThis as unknown as Page;
  const name = prefixOf(options);
  const store = storeOf(page, options, name);
  const tracker: Tracker = new Tracker(options, {
    ...surroundings(store),
    alone: aloneIn(page, store, name),
    close: () => unlisten(),
  });
  const unlisten = listen(page, tracker);
  return tracker;
}

/** What names of stored events begin with; of two queues none begins with the other's. */
function prefixOf({ queue, key }: PageTrackerOptions): string {
  return queue === undefined ? `cp-track-key:${hashOf(key)}:` : `cp-track:${encodeURIComponent(queue)}:`;
}

/** FNV-1a. It keeps apart the few keys of one site, and none of them is a secret there. */
function hashOf(text: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return (hash >>> 0).toString(36);
}

function storeOf(page: Page, { storage = 'local' }: PageTrackerOptions, name: string): Store {
  if (page.document === undefined || storage === 'memory') return new MemoryStore();
  try {
    const { localStorage } = page;
    return localStorage ? new LocalStore(localStorage, name) : new MemoryStore();
  } catch {
    // Reading the very property throws where the browser lets the site store nothing.
    return new MemoryStore();
  }
}

/** Of all pages with the same queue one sends at a time, where there are Web Locks; without, the keys make twice once. */
function aloneIn(page: Page, store: Store, name: string): Environment['alone'] {
  const locks = store instanceof LocalStore ? page.navigator?.locks : undefined;
  if (!locks) return (work) => work();
  return async (work) => {
    let began = false;
    const noted = (): Promise<void> => {
      began = true;
      return work();
    };
    try {
      await locks.request(name, noted);
    } catch (error) {
      // Some documents may not lock: those in a sandbox, and those that are being closed.
      if (began) throw error;
      await work();
    }
  };
}

/** Hears of the page's end, its return and the network's. @returns what ends that */
function listen(page: Page, tracker: Tracker): () => void {
  const { document } = page;
  if (!document) return () => undefined;
  const leave = (): void => tracker.leave();
  const resume = (): void => tracker.resume();
  const hidden = (): void => {
    if (document.visibilityState === 'hidden') leave();
  };
  const returned = ({ persisted }: { persisted?: boolean }): void => {
    if (persisted) resume();
  };
  page.addEventListener?.('pagehide', leave);
  page.addEventListener?.('pageshow', returned);
  page.addEventListener?.('online', resume);
  document.addEventListener('visibilitychange', hidden);
  return () => {
    page.removeEventListener?.('pagehide', leave);
    page.removeEventListener?.('pageshow', returned);
    page.removeEventListener?.('online', resume);
    document.removeEventListener('visibilitychange', hidden);
  };
}
