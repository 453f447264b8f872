import { useQuery } from '@tanstack/react-query';
import { Navigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { useMay, usePerson } from '../session/use-session.tsx';
import { Detail, Details, Id } from '../ui/details.tsx';
import { Failure, Forbidden } from '../ui/notices.tsx';
import { PARTS } from './parts.ts';
import { SettingsForm } from './settings-form.tsx';

/** The organization's own settings. */
export function SettingsPage(): ReactNode {
  const t = useTranslations('organization');
  const may = useMay();
  const api = useApi();
  const { organization } = usePerson();
  const { data, error, refetch } = useQuery({
    queryKey: [organization.id, 'organization', 'settings'],
    enabled: may('identity.organizations.read'),
    queryFn: ({ signal }) =>
      api.GET('/v1/identity/organizations/{id}', { params: { path: { id: organization.id } }, signal }),
  });
  if (!may('identity.organizations.read')) {
    const other = PARTS.find(({ permission }) => may(permission));
    if (other === undefined) return <Forbidden permission="identity.organizations.read" />;
    return <Navigate to={other.to} params={{ organization: organization.slug }} replace />;
  }
  if (error !== null && data === undefined) return <Failure error={error} again={() => void refetch()} />;
  if (data === undefined) return <div aria-busy className="bones h-96" />;
  return (
    <>
      <Details>
        <Detail name={t('slug')}>
          <Id value={data.data.slug} />
        </Detail>
        <Detail name={t('id')}>
          <Id value={data.data.id} />
        </Detail>
      </Details>
      <SettingsForm opened={data} />
    </>
  );
}
