import { getRouteApi } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { useMay } from '../session/use-session.tsx';
import { Failure, Forbidden } from '../ui/notices.tsx';
import { useOwnQuery } from '../ui/queries.ts';
import { NewRole } from './new-role.tsx';
import { RoleForm } from './role-form.tsx';

const roleRoute = getRouteApi('/o/$organization/organization/roles/$role');

/** One role, or a new one. */
export function RolePage(): ReactNode {
  const { role } = roleRoute.useParams();
  return role === 'new' ? <NewRole /> : <KnownRole key={role} id={role} />;
}

function KnownRole({ id }: { id: string }): ReactNode {
  const t = useTranslations('organization');
  const api = useApi();
  const may = useMay();
  const { data, error, refetch } = useOwnQuery({
    queryKey: ['organization', 'role', id],
    enabled: may('identity.roles.read'),
    queryFn: ({ signal }) => api.GET('/v1/identity/roles/{id}', { params: { path: { id } }, signal }),
  });
  if (!may('identity.roles.read')) return <Forbidden permission="identity.roles.read" />;
  if (error !== null && data === undefined) return <Failure error={error} again={() => void refetch()} />;
  if (data === undefined) return <div aria-busy aria-label={t('parts.roles')} className="bones h-96" />;
  return <RoleForm opened={data} />;
}
