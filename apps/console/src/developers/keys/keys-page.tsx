import { getRouteApi } from '@tanstack/react-router';
import { KeyRound } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../../api/api.tsx';
import { useMay } from '../../session/use-session.tsx';
import { Badge } from '../../ui/badge.tsx';
import { useChangeOf } from '../../ui/list-page.tsx';
import { Button } from '../../ui/button.tsx';
import { DataTable, type Column } from '../../ui/data-table.tsx';
import { Filters, FilterSelect } from '../../ui/filters.tsx';
import { useList } from '../../ui/list.ts';
import { Empty, Forbidden } from '../../ui/notices.tsx';
import { Section } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { KEY_STATES } from '../search-params.ts';
import { RevokeKey, RotateKey } from './end-key.tsx';
import { MakeKey } from './make-key.tsx';
import type { ApiKey } from './use-keys.ts';
import { useMachineRoles } from './use-roles.ts';

const keysRoute = getRouteApi('/o/$organization/developers/keys');

type Doing = 'rotate' | 'revoke';

const TONES = { active: 'good', expiring: 'warn', expired: 'neutral', revoked: 'neutral' } as const;
/** Stands in the address in place of a key: the form of another one. */
const NEW = 'new';
const READ_EVERY_MS = 30_000;

/** The keys by which programs call the platform. */
export function KeysPage(): ReactNode {
  const t = useTranslations('developers');
  const may = useMay();
  const { open } = keysRoute.useSearch();
  const change = useChangeOf<{ open: string | undefined }>();
  if (!may('identity.api_keys.read')) return <Forbidden permission="identity.api_keys.read" />;
  return (
    <Section
      title={t('parts.keys')}
      lead={t('keys.lead')}
      actions={
        may('identity.api_keys.create') && (
          <Button look="main" onClick={() => change({ open: NEW })}>
            <KeyRound aria-hidden className="size-4" />
            {t('keys.make')}
          </Button>
        )
      }
    >
      <Keys />
      {open === NEW && may('identity.api_keys.create') && (
        <MakeKey onClose={() => change({ open: undefined })} />
      )}
    </Section>
  );
}

function Keys(): ReactNode {
  const t = useTranslations('developers');
  const api = useApi();
  const { status, open } = keysRoute.useSearch();
  const navigate = keysRoute.useNavigate();
  const [doing, setDoing] = useState<{ what: Doing; to: ApiKey }>();
  const columns = useColumns((what, to) => setDoing({ what, to }));
  const list = useList<ApiKey>(
    ['api-keys', status],
    async (cursor, signal) => {
      const query = { status, cursor, limit: 50 };
      return (await api.GET('/v1/identity/api-keys', { params: { query }, signal })).data;
    },
    // What was used when changes while one looks.
    { refetchInterval: READ_EVERY_MS },
  );
  const close = (): void => setDoing(undefined);
  return (
    <>
      <Filters>
        <FilterSelect
          label={t('state')}
          value={status}
          onChange={(value) =>
            void navigate({
              search: { status: KEY_STATES.find((each) => each === value) },
              replace: true,
            })
          }
          options={KEY_STATES.map((value) => ({ value, label: t(`keys.states.${value}`) }))}
        />
      </Filters>
      <DataTable
        label={t('parts.keys')}
        list={list}
        columns={columns}
        keyOf={({ id }) => id}
        chosen={open}
        empty={<Empty title={t('keys.none')}>{t('keys.noneLead')}</Empty>}
      />
      {doing?.what === 'rotate' && <RotateKey of={doing.to} onClose={close} />}
      {doing?.what === 'revoke' && <RevokeKey of={doing.to} onClose={close} />}
    </>
  );
}

function useColumns(onDo: (what: Doing, key: ApiKey) => void): Column<ApiKey>[] {
  const t = useTranslations('developers');
  const may = useMay();
  const roles = useMachineRoles();
  const roleOf = ({ role_id }: ApiKey): string => roles?.find(({ id }) => id === role_id)?.name ?? role_id;
  return [
    { id: 'name', header: t('name'), cell: ({ name }) => <bdi className="font-medium">{name}</bdi> },
    {
      id: 'prefix',
      header: t('keys.prefix'),
      cell: ({ prefix }) => <code className="font-mono text-xs">{prefix}…</code>,
    },
    { id: 'role', header: t('keys.role'), cell: (key) => <bdi>{roleOf(key)}</bdi> },
    {
      id: 'status',
      header: t('state'),
      cell: ({ status }) => <Badge tone={TONES[status]}>{t(`keys.states.${status}`)}</Badge>,
    },
    {
      id: 'last_used_at',
      header: t('keys.lastUsed'),
      cell: ({ last_used_at }) => (last_used_at === null ? t('never') : <Time at={last_used_at} relative />),
    },
    {
      id: 'expires_at',
      header: t('keys.ends'),
      cell: ({ expires_at }) => (expires_at === null ? t('never') : <Time at={expires_at} />),
    },
    {
      id: 'do',
      header: t('actions'),
      cell: (key) =>
        may('identity.api_keys.rotate') && (
          <span className="flex gap-1">
            {key.status === 'active' && (
              <Button look="quiet" className="min-h-8!" onClick={() => onDo('rotate', key)}>
                {t('keys.rotate')}
              </Button>
            )}
            {(key.status === 'active' || key.status === 'expiring') && (
              <Button look="quiet" className="min-h-8!" onClick={() => onDo('revoke', key)}>
                {t('keys.revoke')}
              </Button>
            )}
          </span>
        ),
    },
  ];
}
