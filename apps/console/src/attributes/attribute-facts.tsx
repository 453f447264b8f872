import type { ReactNode } from 'react';
import { useFormatter, useTranslations } from 'use-intl';
import { Badge } from '../ui/badge.tsx';
import { Detail, Details, Id } from '../ui/details.tsx';
import { Note } from '../ui/notices.tsx';
import { Time } from '../ui/time.tsx';
import type { Attribute } from './attribute-draft.ts';

/** What a definition declares. */
export function AttributeFacts({ attribute }: { attribute: Attribute }): ReactNode {
  const t = useTranslations('attributes');
  const { number } = useFormatter();
  const figures = [
    ['maxLength', attribute.max_length],
    ['min', attribute.min],
    ['max', attribute.max],
  ] as const;
  return (
    <Details>
      <Detail name={t('key')}>
        <code className="font-mono text-xs wrap-anywhere">{attribute.key}</code>
      </Detail>
      <Detail name={t('type')}>{t(`types.${attribute.type}`)}</Detail>
      {attribute.enum !== null && (
        <Detail name={t('values')}>
          <ul>
            {attribute.enum.map((value) => (
              <li key={value}>
                <bdi className="wrap-anywhere">{value}</bdi>
              </li>
            ))}
          </ul>
        </Detail>
      )}
      {figures.map(
        ([name, value]) =>
          value !== null && (
            <Detail key={name} name={t(name)}>
              {number(value)}
            </Detail>
          ),
      )}
      <Detail name={t('members')}>{t(attribute.member_visible ? 'seen' : 'unseen')}</Detail>
      <Detail name={t('changedAt')}>
        <Time at={attribute.updated_at} />
      </Detail>
      <Detail name={t('id')}>
        <Id value={attribute.id} />
      </Detail>
    </Details>
  );
}

/** How far the values that contacts had before have been gone through. */
export function ConversionNote({ attribute: { conversion } }: { attribute: Attribute }): ReactNode {
  const t = useTranslations('attributes');
  if (conversion === null) return null;
  const { state, to, processed, total } = conversion;
  const type = t(`types.${to.type}`);
  return (
    <Note>
      <p className="font-medium">{t(`conversion.${state}`, { type })}</p>
      <p className="text-soft">{t('progress', { processed, total: Math.max(total, processed) })}</p>
    </Note>
  );
}

/** Whether it is in force, deleted, or still goes through what contacts have. */
export function AttributeState({ attribute }: { attribute: Attribute }): ReactNode {
  const t = useTranslations('attributes');
  if (attribute.deleted_at !== null) return <Badge tone="bad">{t('deleted')}</Badge>;
  if (attribute.conversion !== null) return <Badge tone="warn">{t('converting')}</Badge>;
  return <Badge tone="good">{t('inForce')}</Badge>;
}
