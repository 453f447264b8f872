import type { Schemas } from '@customer-platform/client';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import type { ReactNode } from 'react';
import { useFormatter, useTranslations } from 'use-intl';
import { useApi } from '../../api/api.tsx';
import { useChannelSettings } from '../../messages/use-channels.ts';
import { Actor } from '../../people/person.tsx';
import { useMay } from '../../session/use-session.tsx';
import { Badge, type Tone } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { DataTable, type Column } from '../../ui/data-table.tsx';
import { useList } from '../../ui/list.ts';
import { Empty, Forbidden } from '../../ui/notices.tsx';
import { Section } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { useWords } from '../timeline/words.tsx';
import { consentModesOf } from './consent-modes.ts';
import { ConsentForm } from './consent-form.tsx';

const FROM = '/o/$organization/contacts/$contactId/consents' as const;
const PAGE = 100;
const TONES: Record<string, Tone> = { granted: 'good', denied: 'bad', withdrawn: 'bad', expired: 'warn' };

type State = Schemas['ConsentStateDto'];
type Said = Schemas['ConsentDto'];

/** What a contact has agreed to, by purpose and channel, and all that it ever said about that. */
export function ConsentsPage(): ReactNode {
  const t = useTranslations('contacts');
  const may = useMay();
  const { contactId } = useParams({ from: FROM });
  const { form } = useSearch({ from: FROM });
  const navigate = useNavigate({ from: FROM });
  const show = (open: boolean): void => {
    const search = open ? ({ form: true } as const) : {};
    void navigate({ search, replace: true, resetScroll: false });
  };
  if (!may('core.consents.read')) return <Forbidden permission="core.consents.read" />;
  return (
    <div className="flex flex-col gap-8">
      <Section
        title={t('consents.now')}
        lead={t('consents.nowLead')}
        actions={
          may('core.consents.write') && (
            <Button look="main" onClick={() => show(true)}>
              <Plus aria-hidden className="size-4" />
              {t('consents.record')}
            </Button>
          )
        }
      >
        <Modes />
        <States contactId={contactId} />
      </Section>
      <Section title={t('consents.history')} lead={t('consents.historyLead')}>
        <History contactId={contactId} />
      </Section>
      <ConsentForm contactId={contactId} open={form === true} onClose={() => show(false)} />
    </div>
  );
}

/** Says what is sent without a word of the person, and what is not: by how the channels are set up. */
function Modes(): ReactNode {
  const t = useTranslations('contacts');
  const words = useWords();
  const { list } = useFormatter();
  const may = useMay();
  const { data, error } = useChannelSettings();
  if (!may('messaging.channels.read') || error !== null)
    return <p className="max-w-[70ch] text-soft">{t('consents.modes.unknown')}</p>;
  if (data === undefined) return <div aria-busy className="bones h-5 max-w-[70ch]" />;
  const { optIn, optOut } = consentModesOf(data.data);
  const named = (channels: readonly string[]): string => list(channels.map((each) => words.channel(each)));
  return (
    <ul className="flex max-w-[70ch] flex-col gap-1 text-soft">
      {optIn.length > 0 && <li>{t('consents.modes.optIn', { channels: named(optIn) })}</li>}
      {optOut.length > 0 && <li>{t('consents.modes.optOut', { channels: named(optOut) })}</li>}
      {optIn.length + optOut.length === 0 && <li>{t('consents.modes.none')}</li>}
    </ul>
  );
}

function States({ contactId }: { contactId: string }): ReactNode {
  const t = useTranslations('contacts');
  const words = useWords();
  const list = useConsents<State>(contactId, 'state');
  const columns: Column<State>[] = [
    { id: 'purpose', header: t('consents.purpose'), cell: ({ purpose }) => words.purpose(purpose) },
    { id: 'channel', header: t('consents.channel'), cell: ({ channel }) => words.channel(channel) },
    { id: 'status', header: t('consents.status'), cell: ({ status }) => <Status status={status} /> },
    { id: 'since', header: t('consents.since'), cell: ({ occurred_at: at }) => <Time at={at} /> },
    {
      id: 'expires',
      header: t('consents.expires'),
      cell: ({ expires_at: at }) => (at === null ? '–' : <Time at={at} />),
    },
  ];
  return (
    <DataTable
      label={t('consents.now')}
      list={list}
      columns={columns}
      keyOf={({ purpose, channel }) => `${purpose} ${channel ?? ''}`}
      empty={<Empty title={t('consents.none')} />}
    />
  );
}

function History({ contactId }: { contactId: string }): ReactNode {
  const t = useTranslations('contacts');
  const words = useWords();
  const list = useConsents<Said>(contactId, 'history');
  const columns: Column<Said>[] = [
    { id: 'at', header: t('consents.at'), cell: ({ occurred_at: at }) => <Time at={at} /> },
    { id: 'purpose', header: t('consents.purpose'), cell: ({ purpose }) => words.purpose(purpose) },
    { id: 'channel', header: t('consents.channel'), cell: ({ channel }) => words.channel(channel) },
    { id: 'status', header: t('consents.status'), cell: ({ status }) => <Status status={status} /> },
    { id: 'method', header: t('consents.method'), cell: ({ method }) => method ?? '–' },
    { id: 'notice', header: t('consents.notice'), cell: ({ notice_version: version }) => version ?? '–' },
    {
      id: 'actor',
      header: t('consents.actor'),
      cell: ({ actor }) => <Actor type={actor.type} id={actor.id} />,
    },
  ];
  return (
    <DataTable
      label={t('consents.history')}
      list={list}
      columns={columns}
      keyOf={({ id }) => id}
      empty={<p className="text-soft">{t('consents.noHistory')}</p>}
    />
  );
}

function useConsents<Item extends State | Said>(contactId: string, view: 'state' | 'history') {
  const api = useApi();
  return useList(['contacts', contactId, 'consents', view], async (cursor, signal) => {
    const query = {
      limit: PAGE,
      ...(view === 'history' ? { view } : {}),
      ...(cursor === undefined ? {} : { cursor }),
    };
    const params = { path: { id: contactId }, query };
    const { data } = await api.GET('/v1/core/contacts/{id}/consents', { params, signal });
    // The view decides which of the two forms the items have.
    return { ...data, data: data.data as Item[] };
  });
}

function Status({ status }: { status: string }): ReactNode {
  const words = useWords();
  return <Badge tone={TONES[status] ?? 'neutral'}>{words.consent(status)}</Badge>;
}
