import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { ContactName } from '../people/person.tsx';

/** Whose points they are; after an erasure nobody's. */
export function ContactCode({ id }: { id: string | null }): ReactNode {
  const t = useTranslations('loyalty');
  return id === null ? <span className="text-soft">{t('erased')}</span> : <ContactName id={id} />;
}
