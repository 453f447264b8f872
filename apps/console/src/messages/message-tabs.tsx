import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useMay, usePerson } from '../session/use-session.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { MESSAGE_PARTS } from './parts.ts';

/** The parts of Messages that the person may see. */
export function MessageTabs(): ReactNode {
  const t = useTranslations('message-parts');
  const may = useMay();
  const { organization } = usePerson();
  const params = { organization: organization.slug };
  const tabs = MESSAGE_PARTS.filter(({ permission }) => may(permission)).map(({ name, to }) => ({
    label: t(`parts.${name}`),
    link: { to, params },
  }));
  return <Tabs label={t('label')} tabs={tabs} />;
}
