import type { ReactNode } from 'react';
import { useFormatter, useTranslations } from 'use-intl';
import { useBalance } from '../contacts/contact-facts.tsx';
import { Detail, Details } from '../ui/details.tsx';
import { Failure } from '../ui/notices.tsx';
import { Panel } from '../ui/page.tsx';
import { Time } from '../ui/time.tsx';

const MOST_SHOWN = 5;

/** What a contact has, and what of it ends when. */
export function Balance({ contactId }: { contactId: string }): ReactNode {
  const t = useTranslations('loyalty');
  const { number } = useFormatter();
  const { data, error, refetch } = useBalance(contactId, true);
  if (data === undefined)
    return error === null ? (
      <div aria-busy className="bones h-20" />
    ) : (
      <Failure error={error} again={() => void refetch()} />
    );
  return (
    <Panel label={t('balance')}>
      <Details>
        <Detail name={t('available')}>
          <span className="font-semibold tabular-nums">{number(data.available)}</span>
        </Detail>
        {data.points !== data.available && <Detail name={t('sum')}>{number(data.points)}</Detail>}
        {data.expiring.slice(0, MOST_SHOWN).map(({ lot_id: lot, points, expires_at: at }) => (
          <Detail key={lot} name={t('expiring')}>
            {number(points)} · <Time at={at} />
          </Detail>
        ))}
      </Details>
    </Panel>
  );
}
