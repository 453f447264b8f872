import { useEffect, useRef } from 'react';

/** The key that holds on every page from its first moment: ⌘K or Ctrl K. All others come with what is around pages. */
export function useKeys(actions: { palette: () => void }): void {
  const said = useRef(actions);
  useEffect(() => {
    said.current = actions;
  });
  useEffect(() => {
    const pressed = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() !== 'k' || !(event.metaKey || event.ctrlKey)) return;
      event.preventDefault();
      // In front of a dialog nothing else can stand.
      if (document.querySelector('dialog[open]') === null) said.current.palette();
    };
    window.addEventListener('keydown', pressed);
    return () => window.removeEventListener('keydown', pressed);
  }, []);
}
