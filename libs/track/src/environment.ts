import type { Store } from './store.js';

/** What a tracker needs of where it runs. */
export interface Environment {
  readonly store: Store;
  /** Others of the site follow, and try again what a page has given up. A process of Node may be the only one for months. */
  readonly isPage: boolean;
  now(): number;
  random(): number;
  fetch(url: string, init: RequestInit): Promise<Response>;
  /** Calls back once after so many ms; what it returns cancels that. */
  later(ms: number, work: () => void): () => void;
  /** Runs while none of those who share the store does. */
  alone(work: () => Promise<void>): Promise<void>;
  /** Undoes what was set up around the tracker, and lets others open its store. */
  close?(): void | Promise<void>;
}

/** What browsers and Node have in common, with a store that nobody shares. */
export function surroundings(store: Store): Environment {
  return {
    store,
    isPage: 'document' in globalThis,
    now: () => Date.now(),
    random: () => Math.random(),
    fetch: (url, init) => fetch(url, init),
    later: (ms, work) => {
      const timer = setTimeout(work, ms);
      return () => clearTimeout(timer);
    },
    alone: (work) => work(),
  };
}
