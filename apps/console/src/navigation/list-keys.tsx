import { useEffect, useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { Dialog } from '../ui/dialog.tsx';
import { isWriting } from '../ui/debounce.ts';

/** A row of a list, or a chain of a timeline. */
const ROW = 'tr[data-index][tabindex], [data-chain]';
const STEPS = ['j', 'k'];

/** Keys of every page that need no click before them: `j` and `k` go into its list, `/` to its filter, `?` shows all keys. */
export function ListKeys(): ReactNode {
  const [helped, setHelped] = useState(false);
  useEffect(() => {
    const pressed = (event: KeyboardEvent): void => {
      const { key, target, defaultPrevented, metaKey, ctrlKey, altKey } = event;
      if (defaultPrevented || metaKey || ctrlKey || altKey || isWriting(target)) return;
      if (key === '?') setHelped(true);
      else if ((STEPS.includes(key) && enterList()) || (key === '/' && enterFilter())) event.preventDefault();
    };
    window.addEventListener('keydown', pressed);
    return () => window.removeEventListener('keydown', pressed);
  }, []);
  return <Keys open={helped} onClose={() => setHelped(false)} />;
}

/** Focuses the row that is open, else the first; from within a list its own keys go on. */
function enterList(): boolean {
  const place = [...document.querySelectorAll('dialog[open]')].at(-1) ?? document;
  if (document.activeElement?.closest(ROW) != null) return false;
  const row =
    place.querySelector<HTMLElement>('tr[data-index][aria-current=true]') ??
    place.querySelector<HTMLElement>(ROW);
  row?.focus();
  return row !== null;
}

function enterFilter(): boolean {
  const filter = document.querySelector<HTMLElement>('[data-main-filter]');
  filter?.focus();
  return filter !== null;
}

const KEYS = [
  { name: 'search', keys: ['⌘ K', 'Ctrl K'] },
  { name: 'filter', keys: ['/'] },
  { name: 'down', keys: ['j', '↓'] },
  { name: 'up', keys: ['k', '↑'] },
  { name: 'open', keys: ['Enter'] },
  { name: 'newTab', keys: ['⌘ Enter', 'Ctrl Enter'] },
  { name: 'close', keys: ['Esc'] },
  { name: 'help', keys: ['?'] },
] as const;

function Keys({ open, onClose }: { open: boolean; onClose: () => void }): ReactNode {
  const t = useTranslations('navigation');
  return (
    <Dialog open={open} onClose={onClose} title={t('keys.title')}>
      <dl className="grid grid-cols-[max-content_minmax(0,1fr)] items-center gap-x-6 gap-y-2">
        {KEYS.map(({ name, keys }) => (
          <div key={name} className="contents">
            <dt className="flex gap-1.5">
              {keys.map((key) => (
                <kbd
                  key={key}
                  className="rounded-control border border-line bg-ground px-2 font-sans text-xs"
                >
                  {key}
                </kbd>
              ))}
            </dt>
            <dd>{t(`keys.${name}`)}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
