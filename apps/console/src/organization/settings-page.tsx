import { Navigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useMay, usePerson } from '../session/use-session.tsx';
import { Detail, Details, Id } from '../ui/details.tsx';
import { Failure, Forbidden } from '../ui/notices.tsx';
import { PARTS } from './parts.ts';
import { SettingsForm } from './settings-form.tsx';
import { useSettings } from './use-settings.ts';

/** The organization's own settings. */
export function SettingsPage(): ReactNode {
  const t = useTranslations('organization');
  const may = useMay();
  const { organization } = usePerson();
  const { data, error, refetch } = useSettings();
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
