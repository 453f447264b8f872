import { Waypoints } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { ContactName } from '../people/person.tsx';
import { useMay, usePerson } from '../session/use-session.tsx';
import { ButtonLink } from '../ui/button.tsx';
import { Detail, Details, Id } from '../ui/details.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Json } from '../ui/json.tsx';
import { Failure, Note } from '../ui/notices.tsx';
import { TimeDifference } from '../ui/time-difference.tsx';
import { useOwnQuery } from '../ui/queries.ts';
import { Time } from '../ui/time.tsx';
import type { StoredEvent } from './entry.ts';
import { EventEffects } from './event-effects.tsx';

interface EventPanelProps {
  idempotencyKey: string;
  /** What the list has of it already. */
  known: StoredEvent | undefined;
  onClose: () => void;
}

/** One event beside the list. */
export function EventPanel({ idempotencyKey, known, onClose }: EventPanelProps): ReactNode {
  const t = useTranslations('live-events');
  const { data, error, refetch } = useEvent(idempotencyKey, known);
  return (
    <Dialog open onClose={onClose} place="side" title={titleOf(data) ?? idempotencyKey}>
      {error !== null && <Failure error={error} again={() => void refetch()} />}
      {data === undefined && error === null && <div aria-busy className="bones h-64" />}
      {data === null && <Note>{t('notFound')}</Note>}
      {data && <Opened event={data} />}
    </Dialog>
  );
}

/** null: there is none. */
function useEvent(idempotency_key: string, known: StoredEvent | undefined) {
  const api = useApi();
  return useOwnQuery({
    queryKey: ['event', idempotency_key],
    initialData: known,
    staleTime: Infinity,
    queryFn: async ({ signal }): Promise<StoredEvent | null> => {
      const query = { idempotency_key, limit: 1 };
      const { data } = await api.GET('/v1/core/events', { params: { query }, signal });
      return data.data[0] ?? null;
    },
  });
}

function titleOf(event: StoredEvent | null | undefined): string | undefined {
  return event?.event ?? event?.type;
}

function Opened({ event }: { event: StoredEvent }): ReactNode {
  const t = useTranslations('live-events');
  const may = useMay();
  return (
    <>
      <ToChain event={event} />
      <Warnings event={event} />
      <Details>
        <Detail name={t('typeName')}>{t(`type.${event.type}`)}</Detail>
        <Detail name={t('column.externalId')}>
          <Id value={event.external_id} />
        </Detail>
        {may('core.contacts.read') && (
          <Detail name={t('contact')}>
            <ContactName id={event.contact_id} withAddress />
          </Detail>
        )}
        <Detail name={t('occurred')}>
          <Time at={event.occurred_at} />
        </Detail>
        <Detail name={t('received')}>
          <Time at={event.received_at} />{' '}
          <TimeDifference ms={Date.parse(event.received_at) - Date.parse(event.occurred_at)} />
        </Detail>
        <Detail name={t('source')}>
          <bdi>{event.source}</bdi>
        </Detail>
        <Detail name={t('idempotencyKey')}>
          <Id value={event.idempotency_key} />
        </Detail>
        <Detail name={t('correlationId')}>
          <Id value={event.correlation_id} />
        </Detail>
      </Details>
      <Json value={event} label={t('as')} />
      {may('crm.timeline.read') ? (
        <EventEffects event={event} />
      ) : (
        <p className="text-soft">{t('noTimeline')}</p>
      )}
    </>
  );
}

/** Links to the event in its contact's timeline, with all that it led to. */
function ToChain({ event }: { event: StoredEvent }): ReactNode {
  const t = useTranslations('live-events');
  const may = useMay();
  const { organization } = usePerson();
  if (!may('crm.timeline.read') || !may('core.contacts.read')) return null;
  return (
    <div>
      <ButtonLink
        to="/o/$organization/contacts/$contactId"
        params={{ organization: organization.slug, contactId: event.contact_id }}
        search={{ open: event.correlation_id }}
      >
        <Waypoints aria-hidden className="size-4" />
        {t('toChain')}
      </ButtonLink>
    </div>
  );
}

const KNOWN_WARNINGS = ['identity_taken', 'invalid_format', 'limit_reached', 'schema_violation'] as const;

function Warnings({ event: { warnings } }: { event: StoredEvent }): ReactNode {
  const t = useTranslations('live-events');
  if (warnings.length === 0) return null;
  return (
    <Note tone="warn">
      <p className="font-medium">{t('warnings')}</p>
      <ul className="mt-1 flex flex-col gap-1">
        {warnings.map(({ pointer, code }) => (
          <li key={`${pointer} ${code}`}>
            <code className="font-mono text-xs">{pointer}</code>{' '}
            {t(`warning.${KNOWN_WARNINGS.find((known) => known === code) ?? 'other'}`)}{' '}
            <code className="font-mono text-xs">{code}</code>
          </li>
        ))}
      </ul>
    </Note>
  );
}
