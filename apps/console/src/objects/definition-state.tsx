import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { Badge } from '../ui/badge.tsx';
import type { ObjectDefinition } from './object.ts';

/** Whether lists can use all of its indexes by now. */
export function DefinitionState({ definition }: { definition: ObjectDefinition }): ReactNode {
  const t = useTranslations('objects');
  if (definition.deleted_at !== null) return <Badge>{t('deletedState')}</Badge>;
  const building = definition.fields.some(({ index_state: state }) => state === 'building');
  return building ? (
    <Badge tone="warn">{t('buildingState')}</Badge>
  ) : (
    <Badge tone="good">{t('readyState')}</Badge>
  );
}
