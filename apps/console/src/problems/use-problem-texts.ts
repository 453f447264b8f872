import { useEffect, useSyncExternalStore } from 'react';

let coming: Promise<void> | undefined;
let areHere = false;
const listeners = new Set<() => void>();

/** Loads them, once; where that fails whoever shows a problem next tries again. */
function bring(): void {
  // eslint-disable-next-line @nx/enforce-module-boundaries -- the Console's build makes it (vite.config.ts)
  coming ??= import('virtual:texts/problems').then(
    () => {
      areHere = true;
      for (const listener of listeners) listener();
    },
    () => {
      coming = undefined;
    },
  );
}

function listen(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/**
 * Brings the words of problems once a page is drawn, and draws it again when they are there. No page shows any before,
 * and in two languages they are more than a first load can spare.
 */
export function useProblemTexts(): void {
  useEffect(bring, []);
  useSyncExternalStore(
    listen,
    () => areHere,
    () => areHere,
  );
}
