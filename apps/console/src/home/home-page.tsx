import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { useMay, usePerson } from '../session/use-session.tsx';
import { Failure, Note } from '../ui/notices.tsx';
import { Page, Section } from '../ui/page.tsx';
import { useOwnQuery } from '../ui/queries.ts';
import { Attention } from './attention.tsx';
import { Conservation } from './conservation.tsx';
import { DayBars } from './day-bars.tsx';
import { FirstSteps } from './first-steps.tsx';
import { Today } from './today.tsx';
import { isUntouched, lastDays } from './usage.ts';

const REFRESHED_EVERY_MS = 15_000;

/** What came in and what became of it, what needs somebody, and where to begin. */
export function HomePage(): ReactNode {
  const t = useTranslations('home');
  const may = useMay();
  const { organization } = usePerson();
  return (
    <Page title={organization.name} lead={t('lead')}>
      {may('core.usage.read') ? <Figures /> : <Note>{t('noFigures')}</Note>}
      <Attention />
    </Page>
  );
}

function Figures(): ReactNode {
  const t = useTranslations('home');
  const api = useApi();
  const { from, to } = lastDays(new Date());
  const { data, error, refetch } = useOwnQuery({
    queryKey: ['usage', from, to],
    refetchInterval: REFRESHED_EVERY_MS,
    queryFn: async ({ signal }) => {
      const query = { from, to, granularity: 'day' } as const;
      return (await api.GET('/v1/core/usage', { params: { query }, signal })).data;
    },
  });
  if (error !== null && data === undefined) return <Failure error={error} again={() => void refetch()} />;
  if (data === undefined) return <div aria-busy className="bones h-64" />;
  const today = data.data.at(-1);
  return (
    <>
      {isUntouched(data) && <FirstSteps />}
      <div className="grid gap-8 xl:grid-cols-2">
        {today !== undefined && (
          <Section title={t('today')} lead={t('utc')}>
            <Conservation counts={today.events} />
          </Section>
        )}
        <Section title={t('month')} lead={t('monthLead')}>
          <Conservation counts={data.totals.events} />
        </Section>
      </div>
      <Section title={t('byDay')}>
        <div className="grid gap-6 lg:grid-cols-2">
          <DayBars
            label={t('eventsByDay')}
            days={data.data.map(({ period_start: day, events }) => ({ day, count: events.accepted }))}
          />
          <DayBars
            label={t('contactsByDay')}
            days={data.data.map(({ period_start: day, contacts }) => ({ day, count: contacts.created }))}
          />
        </div>
      </Section>
      <Today />
    </>
  );
}
