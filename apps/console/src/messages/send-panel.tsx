import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { ContactName } from '../people/person.tsx';
import { useMay, usePerson } from '../session/use-session.tsx';
import { Detail, Details, Id } from '../ui/details.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Json } from '../ui/json.tsx';
import { Empty, Failure } from '../ui/notices.tsx';
import { useOwnQuery } from '../ui/queries.ts';
import { Time } from '../ui/time.tsx';
import type { Send } from './send.ts';
import { Reason, StateBadge } from './words.tsx';

const REFRESHED_MS = 3_000;

/** One send: where it stands, why, and how it came there. */
export function SendPanel({ id, onClose }: { id: string; onClose: () => void }): ReactNode {
  const t = useTranslations('messages');
  return (
    <Dialog open onClose={onClose} title={t('send')} place="side">
      <Content id={id} />
    </Dialog>
  );
}

function Content({ id }: { id: string }): ReactNode {
  const t = useTranslations('messages');
  const api = useApi();
  const { data, error, refetch } = useOwnQuery({
    queryKey: ['messages', 'send', id],
    refetchInterval: REFRESHED_MS,
    queryFn: async ({ signal }) => {
      const params = { query: { id, limit: 1 } };
      const found = await api.GET('/v1/messaging/sends', { params, signal });
      return found.data.data[0] ?? null;
    },
  });
  if (error !== null && data === undefined) return <Failure error={error} again={() => void refetch()} />;
  if (data === undefined) return <div aria-busy className="bones h-48" />;
  if (data === null) return <Empty title={t('noSuchSend')} />;
  return (
    <>
      <Facts send={data} />
      <History id={id} />
      {data.metadata !== null && <Json value={data.metadata} label={t('metadata')} />}
    </>
  );
}

function Facts({ send }: { send: Send }): ReactNode {
  const t = useTranslations('messages');
  return (
    <>
      {send.reason !== null && (
        <p className="rounded-panel bg-ground px-4 py-3">
          <Reason code={send.reason} />
        </p>
      )}
      <Details>
        <Detail name={t('state')}>
          <StateBadge state={send.state} />
        </Detail>
        <Detail name={t('address')}>{send.address ?? t('noAddress')}</Detail>
        {send.subject !== null && <Detail name={t('subject')}>{send.subject}</Detail>}
        <Detail name={t('channel')}>{t(`channels.${send.channel}`)}</Detail>
        <Detail name={t('category')}>{t(`categories.${send.category}`)}</Detail>
        {send.topic !== null && <Detail name={t('topic')}>{send.topic}</Detail>}
        <Source send={send} />
        {send.release_at !== null && (
          <Detail name={t('releaseAt')}>
            <Time at={send.release_at} />
          </Detail>
        )}
        {send.provider !== null && <Detail name={t('provider')}>{send.provider}</Detail>}
        <Contact id={send.contact_id} />
        <Template send={send} />
        {send.correlation_id !== null && (
          <Detail name={t('correlation')}>
            <Id value={send.correlation_id} />
          </Detail>
        )}
        <Detail name={t('id')}>
          <Id value={send.id} />
        </Detail>
      </Details>
    </>
  );
}

function Contact({ id }: { id: string | null }): ReactNode {
  const t = useTranslations('messages');
  if (id === null) return null;
  return (
    <Detail name={t('contact')}>
      <ContactName id={id} />
    </Detail>
  );
}

/** What asked for it, and the way there where it has a page. */
function Source({ send: { source, source_id: id } }: { send: Send }): ReactNode {
  const t = useTranslations('messages');
  const may = useMay();
  const { organization } = usePerson();
  const params = { organization: organization.slug };
  const word = t(`sources.${source}`);
  const look = 'text-accent underline';
  if (id !== null && source === 'routing' && may('messaging.routing.read'))
    return (
      <Detail name={t('source')}>
        <Link to="/o/$organization/messages/routing" params={params} search={{ open: id }} className={look}>
          {word}
        </Link>
      </Detail>
    );
  if (id !== null && source === 'campaign' && may('messaging.campaigns.read'))
    return (
      <Detail name={t('source')}>
        <Link to="/o/$organization/messages/campaigns" params={params} search={{ open: id }} className={look}>
          {word}
        </Link>
      </Detail>
    );
  return <Detail name={t('source')}>{word}</Detail>;
}

function Template({ send }: { send: Send }): ReactNode {
  const t = useTranslations('messages');
  const may = useMay();
  const { organization } = usePerson();
  if (send.template_id === null || !may('messaging.templates.read')) return null;
  const params = { organization: organization.slug, template: send.template_id };
  return (
    <Detail name={t('template')}>
      <Link
        to="/o/$organization/messages/templates/$template"
        params={params}
        className="text-accent underline"
      >
        {t('templateVersion', { version: send.template_version ?? 1 })}
      </Link>
    </Detail>
  );
}

function History({ id }: { id: string }): ReactNode {
  const t = useTranslations('messages');
  const api = useApi();
  const { data, error, refetch } = useOwnQuery({
    queryKey: ['messages', 'history', id],
    refetchInterval: REFRESHED_MS,
    queryFn: async ({ signal }) => {
      const params = { path: { id }, query: { limit: 200 } };
      return (await api.GET('/v1/messaging/sends/{id}/history', { params, signal })).data.data;
    },
  });
  return (
    <section className="flex flex-col gap-2">
      <h3 className="font-medium">{t('history')}</h3>
      {error !== null && <Failure error={error} again={() => void refetch()} />}
      <ol className="flex flex-col gap-2 border-l-2 border-line pl-4">
        {data?.map(({ state, reason, attempt, smtp_code: code, occurred_at: at }, place) => (
          <li key={place} className="flex flex-wrap items-baseline gap-x-3">
            <Time at={at} />
            <StateBadge state={state} />
            {attempt > 1 && <span className="text-xs text-soft">{t('attempt', { attempt })}</span>}
            {code !== null && <span className="text-xs text-soft">{t('smtp', { code })}</span>}
            <span className="text-soft">
              <Reason code={reason} />
            </span>
          </li>
        ))}
      </ol>
    </section>
  );
}
