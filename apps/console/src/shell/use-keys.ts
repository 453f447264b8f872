import { useEffect, useRef } from 'react';

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
        said.current.palette();
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

function isWriting(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}
