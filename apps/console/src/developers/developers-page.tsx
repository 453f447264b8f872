import { Navigate, Outlet, useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useMay } from '../session/use-session.tsx';
import { Page } from '../ui/page.tsx';
import { Tabs } from '../ui/tabs.tsx';

const PARTS = [
  { name: 'keys', to: '/o/$organization/developers/keys', permission: 'identity.api_keys.read' },
  { name: 'webhooks', to: '/o/$organization/developers/webhooks', permission: 'messaging.webhooks.read' },
  { name: 'deadLetters', to: '/o/$organization/developers/dead-letters', permission: 'core.jobs.read' },
  { name: 'taxonomies', to: '/o/$organization/developers/taxonomies', permission: 'core.taxonomies.read' },
  { name: 'reference', to: '/o/$organization/developers/reference', permission: undefined },
] as const;

function useParts(): (typeof PARTS)[number][] {
  const may = useMay();
  return PARTS.filter(({ permission }) => permission === undefined || may(permission));
}

/** What programs need: keys, webhooks, what failed, and what can be called. */
export function DevelopersPage(): ReactNode {
  const t = useTranslations('developers');
  const { organization = '' } = useParams({ strict: false });
  const tabs = useParts().map(({ name, to }) => ({
    label: t(`parts.${name}`),
    link: { to, params: { organization } },
  }));
  return (
    <Page title={t('title')} lead={t('lead')}>
      <Tabs label={t('title')} tabs={tabs} />
      <Outlet />
    </Page>
  );
}

/** The page without a part: the first that one may see. */
export function ToFirst(): ReactNode {
  const { organization = '' } = useParams({ strict: false });
  const [first] = useParts();
  if (first === undefined) return null;
  return <Navigate to={first.to} params={{ organization }} replace />;
}
