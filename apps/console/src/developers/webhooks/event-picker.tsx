import { X } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { Checkbox, TextField } from '../../ui/form.tsx';
import { webhookEventsOf } from '../reference/open-api.ts';
import { useOpenApi } from '../reference/use-open-api.ts';
import type { Fault } from '../../ui/problem-at.ts';

interface EventPickerProps {
  chosen: readonly string[];
  onChange: (chosen: string[]) => void;
  error: Fault | undefined;
}

/** The events that an endpoint is sent, of those that the platform's own document names. */
export function EventPicker({ chosen, onChange, error }: EventPickerProps): ReactNode {
  const t = useTranslations('developers');
  const { data } = useOpenApi();
  const [words, setWords] = useState('');
  const offered = data === undefined ? [] : webhookEventsOf(data);
  const found = offered.filter((name) => name.includes(words.trim().toLowerCase()));
  const without = (name: string): string[] => chosen.filter((each) => each !== name);
  return (
    <fieldset className="flex flex-col gap-2">
      <legend className="mb-1 text-xs font-medium">{t('hooks.events')}</legend>
      <ul className="flex flex-wrap gap-1.5">
        {chosen.length === 0 && <li className="text-soft">{t('hooks.noneChosen')}</li>}
        {chosen.map((name) => (
          <li key={name}>
            <button
              type="button"
              title={t('hooks.without', { name })}
              onClick={() => onChange(without(name))}
              className="inline-flex min-h-7 items-center gap-1 rounded-full bg-accent-soft px-2.5 font-mono text-xs text-accent-strong"
            >
              {name}
              <X aria-hidden className="size-3" />
              <span className="sr-only">{t('hooks.without', { name })}</span>
            </button>
          </li>
        ))}
      </ul>
      <TextField
        label={t('hooks.findEvent')}
        value={words}
        error={error}
        onChange={({ target }) => setWords(target.value)}
      />
      <div
        role="group"
        tabIndex={0}
        aria-label={t('hooks.events')}
        className="max-h-56 overflow-y-auto rounded-control border border-line p-2"
      >
        {data === undefined && <div aria-busy className="bones h-20" />}
        {found.map((name) => (
          <Checkbox
            key={name}
            checked={chosen.includes(name)}
            onChange={({ target }) => onChange(target.checked ? [...chosen, name] : without(name))}
            label={<code className="font-mono text-xs">{name}</code>}
          />
        ))}
      </div>
    </fieldset>
  );
}
