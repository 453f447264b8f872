import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { ContactName } from './person.tsx';

/** Names the contact whose rows alone a list shows, and leads back to everybody's. */
export function ContactChip({ id, onClear }: { id: string; onClear: () => void }): ReactNode {
  const t = useTranslations('people');
  return (
    <button
      type="button"
      className="control max-w-full rounded-full bg-accent-soft px-3 text-accent-strong"
      onClick={onClear}
      title={t('everybody')}
    >
      <span className="truncate">
        {t('only')} <ContactName id={id} plain withAddress />
      </span>{' '}
      <span aria-hidden>×</span>
    </button>
  );
}
