import { getRouteApi } from '@tanstack/react-router';
import { RotateCcw } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../../api/api.tsx';
import { useMay } from '../../session/use-session.tsx';
import { useAddressBeside } from '../../ui/address-beside.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { DataTable, type Column } from '../../ui/data-table.tsx';
import { Filters, FilterSelect, SearchField } from '../../ui/filters.tsx';
import { useList } from '../../ui/list.ts';
import { Empty, Forbidden } from '../../ui/notices.tsx';
import { Section } from '../../ui/page.tsx';
import { isId } from '../../ui/search-params.ts';
import { Time } from '../../ui/time.tsx';
import type { DeadLettersSearch } from '../search-params.ts';
import { LetterPanel } from './letter-panel.tsx';
import { LETTER_STATES, LETTER_TONES, STAGES } from './dead-letter.ts';
import { ReplayAll } from './replay-all.tsx';
import type { DeadLetter } from './use-letters.ts';

const deadLettersRoute = getRouteApi('/o/$organization/developers/dead-letters');

/** Events that were accepted and could not be processed. */
export function DeadLettersPage(): ReactNode {
  const t = useTranslations('developers');
  const may = useMay();
  const search = deadLettersRoute.useSearch();
  const navigate = deadLettersRoute.useNavigate();
  const [replaying, setReplaying] = useState(false);
  if (!may('core.jobs.read')) return <Forbidden permission="core.jobs.read" />;
  const { open, ...filters } = search;
  const change = (search: DeadLettersSearch, replace = true): void =>
    void navigate({ search: (before) => ({ ...before, ...search }), replace });
  const canReplay = may('core.jobs.replay') && (filters.state ?? 'pending') === 'pending';
  return (
    <Section
      title={t('parts.deadLetters')}
      lead={t('letters.lead')}
      actions={
        canReplay && (
          <Button onClick={() => setReplaying(true)}>
            <RotateCcw aria-hidden className="size-4" />
            {t('letters.replayAll')}
          </Button>
        )
      }
    >
      <LetterFilterRow search={search} onChange={change} />
      <Letters filters={filters} onOpen={(open) => change({ open }, false)} />
      {open !== undefined && (
        <LetterPanel key={open} eventId={open} onClose={() => change({ open: undefined }, false)} />
      )}
      {replaying && <ReplayAll filters={filters} onClose={() => setReplaying(false)} />}
    </Section>
  );
}

interface LetterFilterRowProps {
  search: DeadLettersSearch;
  onChange: (change: DeadLettersSearch) => void;
}

function LetterFilterRow({ search, onChange }: LetterFilterRowProps): ReactNode {
  const t = useTranslations('developers');
  return (
    <Filters>
      <FilterSelect
        label={t('state')}
        value={search.state}
        onChange={(value) => onChange({ state: LETTER_STATES.find((each) => each === value) })}
        options={LETTER_STATES.map((value) => ({ value, label: t(`letters.states.${value}`) }))}
      />
      <FilterSelect
        label={t('letters.stage')}
        value={search.stage}
        onChange={(value) => onChange({ stage: STAGES.find((each) => each === value) })}
        options={STAGES.map((value) => ({ value, label: value }))}
      />
      <SearchField
        label={t('letters.code')}
        value={search.code ?? ''}
        onChange={(code) => onChange({ code: code || undefined })}
      />
      <SearchField
        main
        label={t('externalId')}
        value={search.external_id ?? ''}
        onChange={(external_id) => onChange({ external_id: external_id || undefined })}
      />
      <SearchField
        label={t('letters.eventId')}
        value={search.event_id ?? ''}
        takes={isId}
        onChange={(event_id) => onChange({ event_id: event_id || undefined })}
      />
    </Filters>
  );
}

interface LettersProps {
  filters: Omit<DeadLettersSearch, 'open'>;
  onOpen: (eventId: string) => void;
}

function Letters({ filters, onOpen }: LettersProps): ReactNode {
  const t = useTranslations('developers');
  const addressBeside = useAddressBeside();
  const api = useApi();
  const list = useList<DeadLetter>(['dead-letters', 'list', filters], async (cursor, signal) => {
    const query = { ...filters, cursor, limit: 100 };
    return (await api.GET('/v1/core/dead-letters', { params: { query }, signal })).data;
  });
  return (
    <DataTable
      label={t('parts.deadLetters')}
      list={list}
      columns={useColumns()}
      keyOf={({ id }) => id}
      onOpen={({ event_id }) => onOpen(event_id)}
      addressOf={({ event_id }) => addressBeside(event_id)}
      empty={<Empty title={t('letters.none')}>{t('letters.noneLead')}</Empty>}
    />
  );
}

function useColumns(): Column<DeadLetter>[] {
  const t = useTranslations('developers');
  return [
    {
      id: 'at',
      header: t('letters.lastFailed'),
      cell: ({ last_failed_at }) => <Time at={last_failed_at} relative />,
    },
    {
      id: 'state',
      header: t('state'),
      cell: ({ state }) => <Badge tone={LETTER_TONES[state]}>{t(`letters.states.${state}`)}</Badge>,
    },
    { id: 'stage', header: t('letters.stage'), cell: ({ stage }) => stage },
    {
      id: 'code',
      header: t('letters.code'),
      cell: ({ code }) => <code className="font-mono text-xs">{code}</code>,
    },
    {
      id: 'external_id',
      header: t('externalId'),
      cell: ({ external_id }) => <bdi>{external_id ?? ''}</bdi>,
    },
    { id: 'attempts', header: t('letters.attempts'), end: true, cell: ({ attempts }) => attempts },
  ];
}
