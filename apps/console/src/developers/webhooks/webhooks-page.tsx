import { getRouteApi } from '@tanstack/react-router';
import { Webhook } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../../api/api.tsx';
import { useMay } from '../../session/use-session.tsx';
import { useAddressBeside } from '../../ui/address-beside.ts';
import { Badge } from '../../ui/badge.tsx';
import { EnabledFilter } from '../../ui/list-page.tsx';
import { Button } from '../../ui/button.tsx';
import { DataTable, type Column } from '../../ui/data-table.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Filters } from '../../ui/filters.tsx';
import { useList } from '../../ui/list.ts';
import { Empty, Forbidden, NothingMatches } from '../../ui/notices.tsx';
import { SecretOnce } from '../../ui/secret-once.tsx';
import { Section } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import type { WebhooksSearch } from '../search-params.ts';
import { EndpointForm } from './endpoint-form.tsx';
import { EndpointPanel } from './endpoint-panel.tsx';
import { NewPair } from './new-pair.tsx';
import { SigningSelect } from './signing-select.tsx';
import { useCreateEndpoint, type Endpoint } from './use-endpoints.ts';

const webhooksRoute = getRouteApi('/o/$organization/developers/webhooks');
const NEW = 'new';
const NOTHING = { name: '', url: '', events: [] };

/** Where the platform sends its events. */
export function WebhooksPage(): ReactNode {
  const t = useTranslations('developers');
  const may = useMay();
  const { open, enabled } = webhooksRoute.useSearch();
  const navigate = webhooksRoute.useNavigate();
  if (!may('messaging.webhooks.read')) return <Forbidden permission="messaging.webhooks.read" />;
  const change = (search: WebhooksSearch, replace = false): void =>
    void navigate({ search: (before) => ({ ...before, ...search }), replace });
  const close = (): void => change({ open: undefined });
  const mayCreate = may('messaging.webhooks.create');
  return (
    <Section
      title={t('parts.webhooks')}
      lead={t('hooks.lead')}
      actions={
        mayCreate && (
          <Button look="main" onClick={() => change({ open: NEW })}>
            <Webhook aria-hidden className="size-4" />
            {t('hooks.make')}
          </Button>
        )
      }
    >
      <Filters>
        <EnabledFilter label={t('state')} on={t('hooks.on')} off={t('hooks.off')} />
      </Filters>
      <Endpoints enabled={enabled} onOpen={(id) => change({ open: id })} chosen={open} />
      {open === NEW && mayCreate && <NewEndpoint onClose={close} />}
      {open !== undefined && open !== NEW && <EndpointPanel key={open} id={open} onClose={close} />}
    </Section>
  );
}

interface EndpointsProps {
  enabled: WebhooksSearch['enabled'];
  onOpen: (id: string) => void;
  chosen: string | undefined;
}

function Endpoints({ enabled, onOpen, chosen }: EndpointsProps): ReactNode {
  const t = useTranslations('developers');
  const addressBeside = useAddressBeside();
  const api = useApi();
  const list = useList<Endpoint>(['webhook-endpoints', 'list', enabled], async (cursor, signal) => {
    const query = { enabled: enabled === undefined ? undefined : enabled === 'true', cursor, limit: 50 };
    return (await api.GET('/v1/messaging/webhook-endpoints', { params: { query }, signal })).data;
  });
  return (
    <DataTable
      label={t('parts.webhooks')}
      list={list}
      columns={useColumns()}
      keyOf={({ id }) => id}
      chosen={chosen}
      onOpen={({ id }) => onOpen(id)}
      addressOf={({ id }) => addressBeside(id)}
      empty={
        enabled === undefined ? (
          <Empty title={t('hooks.none')}>{t('hooks.noneLead')}</Empty>
        ) : (
          <NothingMatches />
        )
      }
    />
  );
}

function useColumns(): Column<Endpoint>[] {
  const t = useTranslations('developers');
  return [
    { id: 'name', header: t('name'), cell: ({ name }) => <bdi className="font-medium">{name}</bdi> },
    {
      id: 'enabled',
      header: t('state'),
      cell: ({ enabled }) => (
        <Badge tone={enabled ? 'good' : 'bad'}>{t(enabled ? 'hooks.on' : 'hooks.off')}</Badge>
      ),
    },
    {
      id: 'url',
      header: t('hooks.url'),
      cell: ({ url }) => <code className="font-mono text-xs">{url}</code>,
    },
    { id: 'events', header: t('hooks.events'), cell: ({ events }) => events.join(', ') },
    {
      id: 'last',
      header: t('hooks.lastTry'),
      cell: ({ recent_deliveries: [last] }) =>
        last?.attempted_at == null ? (
          '–'
        ) : (
          <span className="inline-flex items-center gap-2">
            <Time at={last.attempted_at} relative />
            {last.error !== null && <Badge tone="bad">{t('hooks.notReceived')}</Badge>}
          </span>
        ),
    },
  ];
}

function NewEndpoint({ onClose }: { onClose: () => void }): ReactNode {
  const t = useTranslations('developers');
  const { data, error, isPending, mutate } = useCreateEndpoint();
  const [signing, setSigning] = useState<Endpoint['signing']>('v1');
  if (data?.public_key != null)
    return (
      <NewPair title={t('hooks.keyOf', { name: data.name })} publicKey={data.public_key} onClose={onClose} />
    );
  if (data !== undefined) {
    return (
      <SecretOnce
        title={t('hooks.made', { name: data.name })}
        secret={data.secret ?? null}
        lost={t('hooks.lost')}
        onClose={onClose}
      >
        {t('hooks.secretUse')}
      </SecretOnce>
    );
  }
  return (
    <Dialog open onClose={onClose} place="side" title={t('hooks.make')} lead={t('hooks.makeLead')}>
      <EndpointForm
        initial={NOTHING}
        action={t('hooks.make')}
        busy={isPending}
        error={error}
        onSend={(draft) => mutate({ ...draft, signing })}
        onCancel={onClose}
      >
        {() => <SigningSelect value={signing} onChange={setSigning} />}
      </EndpointForm>
    </Dialog>
  );
}
