import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { Actor, ResourceName, UserName } from '../people/person.tsx';
import { Badge } from '../ui/badge.tsx';
import { Detail, Details, Id } from '../ui/details.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Failure, Note } from '../ui/notices.tsx';
import { useOwnQuery } from '../ui/queries.ts';
import { Time } from '../ui/time.tsx';
import { useActionName, useThingName } from './action-name.tsx';
import type { AuditRow } from './audit-log.ts';

/** One row of the log, by its place. */
export function AuditPanel({ seq, onClose }: { seq: number; onClose: () => void }): ReactNode {
  const t = useTranslations('audit');
  const api = useApi();
  const named = useActionName();
  const { data, error, refetch } = useOwnQuery({
    queryKey: ['audit', 'row', seq],
    // A row never changes.
    staleTime: Infinity,
    queryFn: async ({ signal }): Promise<AuditRow | null> => {
      const { data } = await api.GET('/v1/core/audit-log', { params: { query: { seq, limit: 1 } }, signal });
      return data.data[0] ?? null;
    },
  });
  return (
    <Dialog open onClose={onClose} place="side" title={data ? named(data.action) : t('row', { seq })}>
      {error !== null && <Failure error={error} again={() => void refetch()} />}
      {data === undefined && error === null && <div aria-busy className="bones h-64" />}
      {data === null && <Note>{t('notFound', { seq })}</Note>}
      {data && <Row row={data} />}
    </Dialog>
  );
}

function Row({ row }: { row: AuditRow }): ReactNode {
  const t = useTranslations('audit');
  const thingName = useThingName();
  const { actor, resource } = row;
  return (
    <Details>
      <Detail name={t('seq')}>{row.seq}</Detail>
      <Detail name={t('at')}>
        <Time at={row.occurred_at} />
      </Detail>
      <Detail name={t('code')}>
        <code className="font-mono text-xs">{row.action}</code>
      </Detail>
      <Detail name={t('filter.outcome')}>
        <Badge tone={row.outcome === 'denied' ? 'bad' : 'good'}>{t(`outcomes.${row.outcome}`)}</Badge>
      </Detail>
      <Detail name={t('actor')}>
        <Actor type={actor.type} id={actor.id} />
      </Detail>
      {actor.impersonator_id !== null && (
        <Detail name={t('impersonator')}>
          <UserName id={actor.impersonator_id} withAddress />
        </Detail>
      )}
      <Detail name={t('resource')}>
        {thingName(resource.type)} <ResourceName type={resource.type} id={resource.id} />
      </Detail>
      <Detail name={t('changed')}>{row.changed_fields.join(', ') || '–'}</Detail>
      <Detail name={t('reason')}>
        <bdi>{row.reason ?? '–'}</bdi>
      </Detail>
      <Detail name={t('ip')}>{row.ip ?? '–'}</Detail>
      <Detail name={t('userAgent')}>
        <bdi>{row.user_agent ?? '–'}</bdi>
      </Detail>
      <Detail name={t('filter.correlation_id')}>
        <Id value={row.correlation_id} />
      </Detail>
      <Detail name={t('prevHash')}>
        <Id value={row.prev_hash} />
      </Detail>
      <Detail name={t('hash')}>
        <Id value={row.hash} />
      </Detail>
    </Details>
  );
}
