import { Link, useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { isUnknownRoute } from '../../api/api.tsx';
import { Failure } from '../../ui/notices.tsx';
import { Section } from '../../ui/page.tsx';
import { useStays } from '../timeline/use-chain.ts';

/** The segments that a contact is in now; nothing of a platform that cannot say yet. */
export function SegmentMemberships({ contactId }: { contactId: string }): ReactNode {
  const t = useTranslations('contacts');
  const { organization = '' } = useParams({ strict: false });
  const { data, error, refetch } = useStays(contactId, 'current');
  if (isUnknownRoute(error)) return null;
  return (
    <Section title={t('profile.segments')}>
      {data === undefined && error === null && <div aria-busy className="bones h-8" />}
      {error !== null && <Failure error={error} again={() => void refetch()} />}
      {data !== undefined && data.data.length === 0 && <p className="text-soft">{t('profile.noSegments')}</p>}
      {data !== undefined && data.data.length > 0 && (
        <ul className="flex flex-wrap gap-2">
          {data.data.map(({ segment_id: id, name }) => (
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
      {data !== undefined && data.page.next_cursor !== null && (
        <p className="text-xs text-soft">{t('timeline.moreSegments')}</p>
      )}
    </Section>
  );
}
