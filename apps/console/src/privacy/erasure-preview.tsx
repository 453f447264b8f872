import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { ContactName } from '../people/person.tsx';
import { Note } from '../ui/notices.tsx';

const GOES = ['profile', 'events', 'notes', 'records', 'messages', 'requests'] as const;
const STAYS = ['consents', 'points', 'sends', 'blocklist', 'audit'] as const;

/** Says whom an erasure erases, what of the person goes, and what stays without the person (core.md §10). */
export function ErasurePreview({ contact }: { contact: string }): ReactNode {
  const t = useTranslations('privacy');
  return (
    <Note tone="warn">
      <div className="flex flex-col gap-2">
        <p className="font-medium">
          {t('erases')} <ContactName id={contact} withAddress />
        </p>
        <Parts title={t('goesLead')} parts={GOES.map((part) => t(`goes.${part}`))} />
        <Parts title={t('staysLead')} parts={STAYS.map((part) => t(`stays.${part}`))} />
      </div>
    </Note>
  );
}

function Parts({ title, parts }: { title: string; parts: readonly string[] }): ReactNode {
  return (
    <div>
      <p>{title}</p>
      <ul className="ml-5 list-disc">
        {parts.map((part) => (
          <li key={part}>{part}</li>
        ))}
      </ul>
    </div>
  );
}
