import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useMay, usePerson } from '../session/use-session.tsx';
import { Tabs } from '../ui/tabs.tsx';

/** The parts of Messages that the person may see. */
export function MessageTabs(): ReactNode {
  const t = useTranslations('messages');
  const may = useMay();
  const { organization } = usePerson();
  const params = { organization: organization.slug };
  const tabs = [
    {
      permission: 'messaging.sends.read',
      label: t('sends'),
      link: { to: '/o/$organization/messages', params },
    },
    {
      permission: 'messaging.templates.read',
      label: t('templates'),
      link: { to: '/o/$organization/messages/templates', params },
    },
    {
      permission: 'messaging.suppressions.read',
      label: t('suppressions'),
      link: { to: '/o/$organization/messages/suppressions', params },
    },
  ] as const;
  return <Tabs label={t('title')} tabs={tabs.filter(({ permission }) => may(permission))} />;
}
