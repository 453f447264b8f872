import { useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { Select } from '../ui/form.tsx';
import { Json } from '../ui/json.tsx';
import type { Taxonomy } from './use-taxonomies.ts';
import { modeOf, MODES, withOverride, type EnforcementDraft } from './enforcement-draft.ts';

interface EventsProps {
  taxonomy: Taxonomy;
  draft: EnforcementDraft;
  /** Left out for whoever may only look. */
  onChange: ((draft: EnforcementDraft) => void) | undefined;
}

/** The events of a taxonomy, each with its schema, an example, and how it is enforced. */
export function DescribedEvents({ taxonomy, draft, onChange }: EventsProps): ReactNode {
  return (
    <ul className="flex flex-col gap-2">
      {taxonomy.events.map((event) => (
        <li key={event.name}>
          <DescribedEvent event={event} draft={draft} onChange={onChange} />
        </li>
      ))}
    </ul>
  );
}

type EventProps = Omit<EventsProps, 'taxonomy'> & { event: Taxonomy['events'][number] };

function DescribedEvent({ event, draft, onChange }: EventProps): ReactNode {
  const t = useTranslations('taxonomies');
  const [open, setOpen] = useState(false);
  const own = draft.overrides[event.name];
  return (
    <details
      className="rounded-panel border border-line p-3"
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
    >
      <summary className="cursor-pointer">
        <code className="font-mono text-xs">{event.name}</code>
        {own !== undefined && <span className="text-soft"> · {t(`modes.${own}`)}</span>}
      </summary>
      {open && (
        <div className="mt-3 flex flex-col gap-3">
          {onChange !== undefined && (
            <Select
              label={t('modeOfEvent')}
              value={own ?? ''}
              options={[
                { value: '', label: t('asTheRest', { mode: t(`modes.${draft.mode}`) }) },
                ...MODES.map((value) => ({ value, label: t(`modes.${value}`) })),
              ]}
              onChange={({ target }) => onChange(withOverride(draft, event.name, modeOf(target.value)))}
            />
          )}
          <h3 className="text-xs font-medium">{t('example')}</h3>
          <Json value={event.example} label={t('exampleOf', { event: event.name })} />
          <h3 className="text-xs font-medium">{t('schema')}</h3>
          <Json value={event.schema} label={t('schemaOf', { event: event.name })} />
        </div>
      )}
    </details>
  );
}
