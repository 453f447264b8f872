import { Autocomplete } from '@base-ui/react/autocomplete';
import { Dialog } from '@base-ui/react/dialog';
import { useRouter } from '@tanstack/react-router';
import { useEffect, useRef, useState, type KeyboardEvent, type MouseEvent, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useMay, usePerson } from '../session/use-session.tsx';
import { useStandsInFront } from '../ui/in-front.ts';
import { actsFor, placesFor } from './places.ts';
import { isFoundIn } from './typed.ts';
import { useFound, type Found, type Search } from './use-found.ts';

/** One line of the search. */
interface Line extends Found {
  /** Its kind, in words. */
  kind: string;
}

const RESTS_MS = 150;
/** The API takes no more of what contacts are looked for by. */
const LONGEST = 100;
/** Pages and acts that are shown at most while things are looked for, too: more would hide what is found. */
const PLACES_SHOWN = 5;

/** Finds pages, what one can begin, and things by what they are called or by any of their ids. */
export function CommandPalette({ open, onClose }: { open: boolean; onClose: () => void }): ReactNode {
  const t = useTranslations('navigation');
  useStandsInFront();
  const [typed, setTyped] = useState('');
  const wanted = typed.trim().slice(0, LONGEST);
  const rested = useRested(wanted);
  const answered = useFound(rested);
  // What was found for the text before is not what Enter opens.
  const search = rested === wanted ? answered : { ...answered, kinds: [], busy: true };
  const lines = useLines(wanted, search);
  const close = (): void => {
    setTyped('');
    onClose();
  };
  const go = useGoTo(close);
  const marked = useRef<Line>(undefined);
  /** While lines come none is marked for a moment: Enter takes the last that was and still is there, else the first. */
  const enter = (event: KeyboardEvent): void => {
    const isLast = ({ kind, id }: Line): boolean => kind === marked.current?.kind && id === marked.current.id;
    const line = lines.find(isLast) ?? lines[0];
    if (line) go(line, event);
  };
  return (
    <Dialog.Root open={open} onOpenChange={(next) => !next && close()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 z-40 bg-black/40" />
        <Dialog.Popup
          aria-label={t('search')}
          className="fixed top-[12vh] left-1/2 z-50 w-[min(40rem,calc(100vw-2rem))] -translate-x-1/2 rounded-panel border border-line bg-raised shadow-xl"
        >
          <Autocomplete.Root
            open
            inline
            items={lines}
            filter={null}
            itemToStringValue={({ label }: Line) => label}
            autoHighlight="always"
            onItemHighlighted={(line) => {
              marked.current = line ?? marked.current;
            }}
            value={typed}
            onValueChange={(value, { reason }) => reason !== 'item-press' && setTyped(value)}
          >
            <Autocomplete.Input
              aria-label={t('search')}
              placeholder={t('searchHint')}
              onKeyDown={(event) => {
                if (event.key !== 'Enter' || event.nativeEvent.isComposing) return;
                event.preventBaseUIHandler();
                event.preventDefault();
                enter(event);
              }}
              className="w-full border-b border-line bg-transparent px-4 py-3 text-base outline-none"
            />
            <Autocomplete.Empty className="px-4 empty:hidden">
              <p className="py-4 text-soft">{t(search.busy ? 'looking' : 'nothingFound')}</p>
            </Autocomplete.Empty>
            <Autocomplete.List className="max-h-[50vh] overflow-y-auto p-1 empty:hidden">
              {(line: Line) => (
                <Autocomplete.Item
                  key={`${line.kind} ${line.id}`}
                  value={line}
                  onClick={(event) => go(line, event)}
                  className="flex min-h-9 items-center gap-3 rounded-control px-3 outline-none data-highlighted:bg-hover"
                >
                  <bdi className="max-w-3/5 shrink-0 truncate">{line.label}</bdi>
                  <bdi className="min-w-0 grow truncate text-xs text-soft">{line.hint}</bdi>
                  <span className="shrink-0 text-xs text-soft">{line.kind}</span>
                </Autocomplete.Item>
              )}
            </Autocomplete.List>
          </Autocomplete.Root>
          <Notes search={search} />
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

/** Says what did not answer. */
function Notes({ search: { silent } }: { search: Search }): ReactNode {
  const t = useTranslations('navigation');
  const named = (kinds: typeof silent): string => kinds.map((kind) => t(`kindsPlural.${kind}`)).join(', ');
  if (silent.length === 0) return null;
  return (
    <div role="status" className="border-t border-line px-4 py-2 text-xs text-soft">
      {t('silent', { kinds: named(silent) })}
    </div>
  );
}

/** Goes to where a line leads; with ⌘, Ctrl or the middle of the mouse in another tab. */
function useGoTo(
  close: () => void,
): (line: Line, event: MouseEvent | KeyboardEvent | { nativeEvent: Event }) => void {
  const router = useRouter();
  const { organization } = usePerson();
  return ({ path }, event) => {
    const href = `/o/${organization.slug}/${path}`.replace(/\/$/, '');
    close();
    const { metaKey = false, ctrlKey = false } = event as Partial<MouseEvent>;
    if (metaKey || ctrlKey) window.open(`/console${href}`, '_blank', 'noopener');
    else void router.navigate({ href });
  };
}

/** Pages first, then what one can begin, then things. */
function useLines(wanted: string, { kinds }: Search): Line[] {
  const t = useTranslations('navigation');
  const may = useMay();
  const places = placesFor(may).map(({ place, above }) => ({
    id: `page ${place.path}`,
    label: t(`places.${place.name}`),
    hint: above && t(`places.${above.name}`),
    path: place.path,
    kind: t('page'),
  }));
  const acts = actsFor(may).map(({ name, path }) => ({
    id: `act ${name}`,
    label: t(`acts.${name}`),
    path,
    kind: t('act'),
  }));
  if (wanted === '') return [...places, ...acts];
  const matching = [
    ...places.filter(({ label, hint = '' }) => isFoundIn(`${label} ${hint}`, wanted)),
    ...acts.filter(({ label }) => isFoundIn(label, wanted)),
  ];
  const found = kinds.flatMap(({ kind, found: each }) =>
    each.map((line) => ({ ...line, kind: t(`kinds.${kind}`) })),
  );
  return [...matching.slice(0, found.length > 0 ? PLACES_SHOWN : undefined), ...found];
}

/** The text once typing rests. */
function useRested(typed: string): string {
  const [rested, setRested] = useState(typed);
  useEffect(() => {
    const timer = setTimeout(() => setRested(typed), RESTS_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  return rested;
}
