import { useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useMay } from '../../session/use-session.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Detail, Details, Id } from '../../ui/details.tsx';
import { Confirm, Dialog } from '../../ui/dialog.tsx';
import { Switch } from '../../ui/form.tsx';
import { Failure } from '../../ui/notices.tsx';
import { Time } from '../../ui/time.tsx';
import { Deliveries } from './deliveries.tsx';
import { EditEndpoint } from './edit-endpoint.tsx';
import { ReplayMissed } from './replay-missed.tsx';
import { RotateSecret } from './rotate-secret.tsx';
import { TryOut } from './try-out.tsx';
import { useChangeEndpoint, useDeleteEndpoint, useEndpoint, type ReadEndpoint } from './use-endpoints.ts';

/** One endpoint beside the list. */
export function EndpointPanel({ id, onClose }: { id: string; onClose: () => void }): ReactNode {
  const t = useTranslations('developers');
  const { data, error, refetch } = useEndpoint(id);
  const [editing, setEditing] = useState<ReadEndpoint>();
  if (editing !== undefined) {
    return <EditEndpoint read={editing} now={data} onClose={() => setEditing(undefined)} />;
  }
  return (
    <Dialog open onClose={onClose} place="side" title={data?.endpoint.name ?? t('hooks.one')}>
      {error !== null && <Failure error={error} again={() => void refetch()} />}
      {data === undefined && error === null && <div aria-busy className="bones h-64" />}
      {data !== undefined && <Opened read={data} onEdit={() => setEditing(data)} onClose={onClose} />}
    </Dialog>
  );
}

interface OpenedProps {
  read: ReadEndpoint;
  onEdit: () => void;
  onClose: () => void;
}

function Opened({ read, onEdit, onClose }: OpenedProps): ReactNode {
  const t = useTranslations('developers');
  const may = useMay();
  const { endpoint } = read;
  return (
    <>
      <Details>
        <Detail name={t('state')}>
          <Enabled read={read} />
        </Detail>
        <Detail name={t('hooks.url')}>
          <Id value={endpoint.url} />
        </Detail>
        <Detail name={t('hooks.events')}>
          <ul className="flex flex-wrap gap-1.5">
            {endpoint.events.map((name) => (
              <li key={name}>
                <Badge>{name}</Badge>
              </li>
            ))}
          </ul>
        </Detail>
        <Detail name={t('hooks.signing')}>{t(`hooks.signings.${endpoint.signing}`)}</Detail>
        {endpoint.public_key !== null && (
          <Detail name={t('hooks.publicKey')}>
            <Id value={endpoint.public_key} />
          </Detail>
        )}
        <Detail name={t('made')}>
          <Time at={endpoint.created_at} />
        </Detail>
      </Details>
      <Actions read={read} onEdit={onEdit} onClose={onClose} />
      {may('messaging.webhooks.update') && <TryOut id={endpoint.id} />}
      <Deliveries endpoint={endpoint} />
    </>
  );
}

/** On or off, with the reason where it is off. */
function Enabled({ read: { endpoint, etag } }: { read: ReadEndpoint }): ReactNode {
  const t = useTranslations('developers');
  const may = useMay();
  const { mutate, isPending, error } = useChangeEndpoint(endpoint.id);
  const { enabled, disabled_reason: reason } = endpoint;
  const word = t(enabled ? 'hooks.on' : 'hooks.off');
  return (
    <div className="flex flex-col gap-1">
      {may('messaging.webhooks.update') ? (
        <Switch
          label={word}
          checked={enabled}
          disabled={isPending}
          onChange={(on) => mutate({ body: { enabled: on }, etag })}
        />
      ) : (
        <Badge tone={enabled ? 'good' : 'bad'}>{word}</Badge>
      )}
      {!enabled && reason !== null && <span className="text-soft">{t(`hooks.reasons.${reason}`)}</span>}
      {error !== null && <Failure error={error} />}
    </div>
  );
}

function Actions({ read, onEdit, onClose }: OpenedProps): ReactNode {
  const t = useTranslations('developers');
  const may = useMay();
  const { endpoint } = read;
  const [asking, setAsking] = useState<'delete' | 'secret' | 'replay'>();
  const deletion = useDeleteEndpoint(endpoint, onClose);
  const stop = (): void => setAsking(undefined);
  return (
    <div className="flex flex-wrap gap-2">
      {may('messaging.webhooks.update') && (
        <>
          <Button onClick={onEdit}>{t('hooks.edit')}</Button>
          <Button onClick={() => setAsking('secret')}>{t('hooks.rotate')}</Button>
          <Button onClick={() => setAsking('replay')}>{t('hooks.replay')}</Button>
        </>
      )}
      {may('messaging.webhooks.delete') && (
        <Button look="danger" onClick={() => setAsking('delete')}>
          {t('hooks.delete')}
        </Button>
      )}
      {asking === 'secret' && <RotateSecret read={read} onClose={stop} />}
      {asking === 'replay' && <ReplayMissed endpoint={endpoint} onClose={stop} />}
      <Confirm
        open={asking === 'delete'}
        danger
        title={t('hooks.deleteName', { name: endpoint.name })}
        action={t('hooks.delete')}
        onClose={stop}
        onConfirm={() => deletion.mutate()}
        busy={deletion.isPending}
        error={deletion.error}
      >
        {t('hooks.deleteLead')}
      </Confirm>
    </div>
  );
}
