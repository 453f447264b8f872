import { Link, useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { Failure } from '../../ui/notices.tsx';
import { Section } from '../../ui/page.tsx';
import { useCurrentSegments } from '../timeline/use-chain.ts';

/** The segments that a contact is in now. */
export function SegmentMemberships({ contactId }: { contactId: string }): ReactNode {
  const t = useTranslations('contacts');
  const { organization = '' } = useParams({ strict: false });
  const { data, error, refetch } = useCurrentSegments(contactId);
  return (
    <Section title={t('profile.segments')}>
      {data === undefined && error === null && <div aria-busy className="bones h-8" />}
      {error !== null && <Failure error={error} again={() => void refetch()} />}
      {data !== undefined && data.current.length === 0 && (
        <p className="text-soft">{t('profile.noSegments')}</p>
      )}
      {data !== undefined && data.current.length > 0 && (
        <ul className="flex flex-wrap gap-2">
          {data.current.map(({ id, name }) => (
            <li key={id}>
              <Link
                to="/o/$organization/segments/$segment"
                params={{ organization, segment: id }}
                className="inline-flex min-h-6 items-center rounded-full bg-hover px-2.5 text-xs font-medium text-accent hover:underline"
              >
                <bdi>{name}</bdi>
              </Link>
            </li>
          ))}
        </ul>
      )}
      {data?.more === true && <p className="text-xs text-soft">{t('timeline.moreSegments')}</p>}
    </Section>
  );
}
