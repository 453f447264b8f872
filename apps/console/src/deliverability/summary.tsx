import { getRouteApi } from '@tanstack/react-router';
import { X } from 'lucide-react';
import type { ReactNode } from 'react';
import { useFormatter, useTranslations } from 'use-intl';
import { useMay, usePerson } from '../session/use-session.tsx';
import { useChangeOf } from '../ui/list-page.tsx';
import { Button, ButtonLink } from '../ui/button.tsx';
import { instantsOf, NO_GROUP, RATES, sendsOf, type Figures } from './deliverability.ts';
import { GroupName, useGroupNames } from './group-name.tsx';
import type { DeliverabilitySearch } from './search-params.ts';

const deliverabilityRoute = getRouteApi('/o/$organization/messages/deliverability');

interface SummaryProps {
  figures: Figures;
  range: { from: string; to: string };
}

/** The figures of all that is shown, each with what it means. */
export function Summary({ figures, range }: SummaryProps): ReactNode {
  const t = useTranslations('deliverability');
  const format = useFormatter();
  const share = { style: 'percent', maximumFractionDigits: 1 } as const;
  return (
    <section aria-label={t('summary')} className="flex flex-col gap-3">
      <Of range={range} />
      <dl className="grid grid-cols-2 gap-3 sm:grid-cols-3 xl:grid-cols-6">
        <Figure name={t('sends')} value={format.number(figures.sends)}>
          {t('handedOver', { count: figures.handed_over })}
        </Figure>
        {RATES.map((rate) => {
          const value = figures.rates[rate];
          return (
            <Figure
              key={rate}
              name={t(`rates.${rate}`)}
              value={value === null ? '–' : format.number(value, share)}
            >
              {value === null ? t('noRate') : t(`meanings.${rate}`)}
            </Figure>
          );
        })}
      </dl>
    </section>
  );
}

function Figure({ name, value, children }: { name: string; value: string; children: ReactNode }): ReactNode {
  return (
    <div className="flex flex-col gap-1 rounded-panel border border-line p-3">
      <dt className="text-xs font-medium text-soft">{name}</dt>
      <dd className="text-xl font-[650] tabular-nums">{value}</dd>
      <dd className="text-xs text-soft">{children}</dd>
    </div>
  );
}

/** What the figures are of, and the sends behind them. */
function Of({ range }: Pick<SummaryProps, 'range'>): ReactNode {
  const t = useTranslations('deliverability');
  const may = useMay();
  const { organization } = usePerson();
  const { group_by: by, group } = deliverabilityRoute.useSearch();
  const change = useChangeOf<DeliverabilitySearch>();
  const chosen = by === undefined ? undefined : group;
  const named = chosen === NO_GROUP ? null : (chosen ?? null);
  const names = useGroupNames(by, [named]);
  const sends = sendsOf(chosen === undefined ? undefined : by, named);
  return (
    <div className="flex flex-wrap items-center gap-2">
      <h2 className="grow text-base font-semibold">
        {by === undefined || chosen === undefined ? (
          t('ofAll')
        ) : (
          <GroupName by={by} group={named} names={names} />
        )}
      </h2>
      {chosen !== undefined && (
        <Button look="quiet" onClick={() => change({ group: undefined })}>
          <X aria-hidden className="size-4" />
          {t('backToAll')}
        </Button>
      )}
      {sends !== undefined && may('messaging.sends.read') && (
        <ButtonLink
          to="/o/$organization/messages"
          params={{ organization: organization.slug }}
          search={{ ...sends, ...instantsOf(range) }}
        >
          {t('theSends')}
        </ButtonLink>
      )}
    </div>
  );
}
