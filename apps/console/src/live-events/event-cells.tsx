import { TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { Badge } from '../ui/badge.tsx';
import type { Column } from '../ui/data-table.tsx';
import { Time } from '../ui/time.tsx';
import { entryOfEvent, type Entry, type StoredEvent } from './entry.ts';

/** The columns of the live list; `clock` where all are of today. */
export function useEntryColumns({ clock }: { clock: boolean }): Column<Entry>[] {
  const t = useTranslations('live-events');
  return [
    { id: 'at', header: t('column.at'), cell: ({ at }) => <Time at={at} clock={clock} /> },
    { id: 'event', header: t('column.event'), cell: (entry) => <Name entry={entry} /> },
    {
      id: 'external_id',
      header: t('column.externalId'),
      cell: (entry) => <bdi>{externalIdOf(entry)}</bdi>,
    },
    {
      id: 'source',
      header: t('column.source'),
      cell: (entry) => (entry.kind === 'recorded' ? <bdi>{entry.event.source}</bdi> : ''),
    },
  ];
}

/** The same of events that are surely stored. */
export function useEventColumns(): Column<StoredEvent>[] {
  return useEntryColumns({ clock: false }).map(({ cell, ...column }) => ({
    ...column,
    cell: (event) => cell(entryOfEvent(event)),
  }));
}

function Name({ entry }: { entry: Entry }): ReactNode {
  const t = useTranslations('live-events');
  if (entry.kind === 'dead_lettered') {
    return (
      <span className="flex items-center gap-2">
        <Badge tone="bad">{t('deadLetter')}</Badge>
        <code className="truncate font-mono text-xs">{entry.letter.code}</code>
      </span>
    );
  }
  const { event, type, warnings } = entry.event;
  return (
    <span className="flex items-center gap-2">
      {type === 'identify' ? (
        <Badge tone="accent">{t('type.identify')}</Badge>
      ) : (
        <bdi className="truncate font-medium">{event}</bdi>
      )}
      {warnings.length > 0 && (
        <span
          title={t('warningsCount', { count: warnings.length })}
          className="inline-flex items-center gap-1 text-xs text-warn"
        >
          <TriangleAlert aria-hidden className="size-3.5" />
          {warnings.length}
          <span className="sr-only">{t('warnings')}</span>
        </span>
      )}
    </span>
  );
}

function externalIdOf(entry: Entry): string {
  return (entry.kind === 'recorded' ? entry.event.external_id : entry.letter.external_id) ?? '';
}
