import type { RouterHistory } from '@tanstack/react-router';

const RESTS_MS = 250;

/**
 * Runs it once typing rests. Where somebody has opened another page by then it never runs: that page may still be on
 * its way, and a change of this one's address would call it off.
 * @returns what calls it off
 */
export function debounceTyping(history: RouterHistory, run: () => void): () => void {
  const { pathname } = history.location;
  const timer = setTimeout(end, RESTS_MS, run);
  const unsubscribe = history.subscribe(({ location }) => {
    if (location.pathname !== pathname) end();
  });
  function end(then?: () => void): void {
    clearTimeout(timer);
    unsubscribe();
    then?.();
  }
  return () => end();
}

/** Tells whether keys go into a text, so that none of them is a command. */
export function isWriting(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}
