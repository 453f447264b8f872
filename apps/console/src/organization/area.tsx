import { Outlet } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useMay, usePerson } from '../session/use-session.tsx';
import { Page } from '../ui/page.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { PARTS } from './parts.ts';

/** The organization: its settings, who is in it, what they may do, and by what they come in. */
export function Area(): ReactNode {
  const t = useTranslations('organization');
  const may = useMay();
  const { organization } = usePerson();
  const tabs = PARTS.filter(({ permission }) => may(permission)).map(({ name, to }) => ({
    label: t(`parts.${name}`),
    link: { to, params: { organization: organization.slug }, search: {} },
  }));
  return (
    <Page title={t('title')} lead={organization.name}>
      <Tabs label={t('title')} tabs={tabs} />
      <Outlet />
    </Page>
  );
}
