import { useEffect, useRef } from 'react';
import { isWriting } from '../ui/debounce.ts';

/** Keys that hold on every page: ⌘K or Ctrl K, and `/` to the page's filter. */
export function useKeys(actions: { palette: () => void }): void {
  const said = useRef(actions);
  useEffect(() => {
    said.current = actions;
  });
  useEffect(() => {
    const pressed = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() === 'k' && (event.metaKey || event.ctrlKey)) {
        event.preventDefault();
        // In front of a dialog nothing else can stand.
        if (document.querySelector('dialog[open]') === null) said.current.palette();
      } else if (event.key === '/' && !isWriting(event.target)) {
        const filter = document.querySelector<HTMLElement>('[data-main-filter]');
        if (filter === null) return;
        event.preventDefault();
        filter.focus();
      }
    };
    window.addEventListener('keydown', pressed);
    return () => window.removeEventListener('keydown', pressed);
  }, []);
}
