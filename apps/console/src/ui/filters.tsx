import { useRouter } from '@tanstack/react-router';
import { Search } from 'lucide-react';
import { useEffect, useRef, useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { fromLocal, toLocal } from './local-instant.ts';
import { debounceTyping } from './debounce.ts';

/** The row of filters under a title; what they hold is in the address. */
export function Filters({ children }: { children: ReactNode }): ReactNode {
  return (
    <div role="search" className="flex flex-wrap items-end gap-3">
      {children}
    </div>
  );
}

interface SearchFieldProps {
  label: string;
  value: string;
  onChange: (value: string) => void;
  /** The one that `/` goes to. */
  main?: boolean;
  /** Tells whether a text is what is looked for as a whole, an id say; one that is none is said to be wrong, and filters nothing. */
  takes?: ((typed: string) => boolean) | undefined;
}

/** Text to look for; asks once typing rests. */
export function SearchField({ label, value, onChange, main = false, takes }: SearchFieldProps): ReactNode {
  const t = useTranslations('ui');
  const { history } = useRouter();
  const [typed, setTyped] = useState(value);
  const wrong = typed !== '' && takes?.(typed) === false;
  const sent = useRef(value);
  const said = useRef(onChange);
  useEffect(() => {
    said.current = onChange;
  });
  useEffect(() => {
    // Back, forward or a pasted link has changed the address.
    if (value !== sent.current) setTyped((sent.current = value));
  }, [value]);
  useEffect(() => {
    const asked = wrong ? '' : typed;
    if (asked === sent.current) return;
    return debounceTyping(history, () => said.current((sent.current = asked)));
  }, [typed, wrong, history]);
  return (
    <label className={`block w-full ${main ? 'sm:w-80' : 'sm:w-72'}`}>
      <span className="sr-only">{label}</span>
      <span className="relative block">
        <Search aria-hidden className="absolute top-1/2 left-2.5 size-4 -translate-y-1/2 text-soft" />
        <input
          type="search"
          className="field pl-8"
          placeholder={label}
          value={typed}
          data-main-filter={main ? '' : undefined}
          aria-invalid={wrong}
          onChange={(event) => setTyped(event.target.value)}
        />
      </span>
      {wrong && (
        <span role="status" className="mt-1 block text-xs text-bad">
          {t('noId')}
        </span>
      )}
    </label>
  );
}

interface FilterSelectProps {
  label: string;
  value: string | undefined;
  onChange: (value: string | undefined) => void;
  options: readonly { value: string; label: string }[];
}

/** One of several, or all. */
export function FilterSelect({ label, value, onChange, options }: FilterSelectProps): ReactNode {
  const t = useTranslations('ui');
  return (
    <label className="flex max-w-full items-center gap-2">
      <span className="shrink-0 text-xs text-soft">{label}</span>
      <select
        className="field w-auto! min-w-0"
        value={value ?? ''}
        onChange={(event) => onChange(event.target.value === '' ? undefined : event.target.value)}
      >
        <option value="">{t('all')}</option>
        {options.map(({ value: each, label: text }) => (
          <option key={each} value={each}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

interface FilterInstantProps {
  label: string;
  /** With its zone, as the API takes it. */
  value: string | undefined;
  onChange: (value: string | undefined) => void;
}

/** A day and a time in the zone of whoever looks. */
export function FilterInstant({ label, value, onChange }: FilterInstantProps): ReactNode {
  return (
    <label className="flex items-center gap-2">
      <span className="text-xs text-soft">{label}</span>
      <input
        type="datetime-local"
        className="field w-auto!"
        value={value === undefined ? '' : toLocal(value)}
        onChange={({ target }) => onChange(fromLocal(target.value))}
      />
    </label>
  );
}
