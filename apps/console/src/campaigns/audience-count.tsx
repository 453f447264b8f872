import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { Failure } from '../ui/notices.tsx';
import type { Campaign } from './campaign.ts';
import { useAudience } from './use-audiences.ts';

/** How many are in an audience now: so many would get the message, or be found to get none. */
export function AudienceCount({ audience }: { audience: Campaign['audience'] }): ReactNode {
  const t = useTranslations('campaigns');
  const { data, error, isFetching } = useAudience(audience);
  if (audience.id === '') return null;
  if (data === undefined && error !== null) return <Failure error={error} />;
  return (
    <p role="status" aria-busy={data === undefined && isFetching} className="text-soft">
      {data !== undefined && t(data.building ? 'building' : 'members', { count: data.count })}
    </p>
  );
}
