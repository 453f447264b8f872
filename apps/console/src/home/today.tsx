import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useFormatter, useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { useMay, usePerson } from '../session/use-session.tsx';
import { Failure } from '../ui/notices.tsx';
import { Section } from '../ui/page.tsx';

const DAY_MS = 86_400_000;
/** Lists say no totals: so many are counted, and what is beyond is said to be. */
const COUNTED = 200;

interface Counted {
  /** What of it is one kind, by its name. */
  parts: Record<string, number>;
  more: boolean;
}

interface Reading {
  /** Whether one may know. */
  asked: boolean;
  data: Counted | undefined;
  error: Error | null;
  again: () => void;
}

/** What the last 24 hours led to: messages by state, points by kind. */
export function Today(): ReactNode {
  const t = useTranslations('home');
  const may = useMay();
  const since = (): string => new Date(Date.now() - DAY_MS).toISOString();
  const api = useApi();
  const sends = useCounted('sends', may('messaging.sends.read'), async (signal) => {
    const query = { 'created_at[gte]': since(), limit: COUNTED };
    const { data } = await api.GET('/v1/messaging/sends', { params: { query }, signal });
    return counted(data, ({ state }) => [state, 1]);
  });
  const points = useCounted('points', may('loyalty.transactions.read'), async (signal) => {
    const query = { 'created_at[gte]': since(), limit: COUNTED };
    const { data } = await api.GET('/v1/loyalty/transactions', { params: { query }, signal });
    return counted(data, ({ kind, points: amount }) => [kind, amount]);
  });
  if (!sends.asked && !points.asked) return null;
  return (
    <Section title={t('lastDay')}>
      <div className="grid gap-6 lg:grid-cols-2">
        <Parts title={t('sends')} none={t('noSends')} reading={sends} />
        <Parts title={t('points')} none={t('noPoints')} reading={points} />
      </div>
    </Section>
  );
}

function useCounted(
  name: string,
  enabled: boolean,
  count: (signal: AbortSignal) => Promise<Counted>,
): Reading {
  const { organization } = usePerson();
  const queryKey = [organization.id, 'home', name];
  const { data, error, refetch } = useQuery({
    queryKey,
    enabled,
    queryFn: ({ signal }) => count(signal),
    refetchInterval: 30_000,
  });
  return { asked: enabled, data, error, again: () => void refetch() };
}

function counted<Item>(
  { data, page }: { data: Item[]; page: { next_cursor: string | null } },
  part: (item: Item) => [name: string, amount: number],
): Counted {
  const parts: Record<string, number> = {};
  for (const item of data) {
    const [name, amount] = part(item);
    parts[name] = (parts[name] ?? 0) + amount;
  }
  return { parts, more: page.next_cursor !== null };
}

interface PartsProps {
  title: string;
  none: string;
  reading: Reading;
}

function Parts({ title, none, reading: { asked, data, error, again } }: PartsProps): ReactNode {
  if (!asked) return null;
  if (error !== null) return <Failure error={error} again={again} />;
  if (data === undefined) return <div aria-busy className="bones h-24" />;
  return <Told title={title} none={none} {...data} />;
}

function Told({ title, none, parts, more }: Counted & { title: string; none: string }): ReactNode {
  const t = useTranslations('home');
  const { number } = useFormatter();
  const named = Object.entries(parts).sort(([, one], [, other]) => other - one);
  return (
    <div className="rounded-panel border border-line p-4">
      <h3 className="font-medium">{title}</h3>
      {named.length === 0 && <p className="mt-2 text-soft">{none}</p>}
      <dl className="mt-3 flex flex-wrap gap-x-8 gap-y-3">
        {named.map(([name, amount]) => (
          <div key={name} className="flex flex-col-reverse">
            <dt className="text-xs text-soft">
              {t.has(`parts.${name}` as 'parts.sent') ? t(`parts.${name}` as 'parts.sent') : name}
            </dt>
            <dd className="text-base font-semibold tabular-nums">{number(amount)}</dd>
          </div>
        ))}
      </dl>
      {more && <p className="mt-3 text-xs text-soft">{t('firstOnes', { count: COUNTED })}</p>}
    </div>
  );
}
