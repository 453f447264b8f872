import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useMay, usePerson } from '../session/use-session.tsx';
import { Tabs } from '../ui/tabs.tsx';

const PARTS = [
  { name: 'ledger', to: '/o/$organization/loyalty', permission: 'loyalty.transactions.read' },
  { name: 'rules', to: '/o/$organization/loyalty/rules', permission: 'loyalty.rules.read' },
] as const;

/** The parts of Loyalty that the person may see. */
export function LoyaltyTabs(): ReactNode {
  const t = useTranslations('loyalty');
  const may = useMay();
  const { organization } = usePerson();
  const params = { organization: organization.slug };
  const tabs = PARTS.filter(({ permission }) => may(permission)).map(({ name, to }) => ({
    label: t(name),
    link: { to, params },
  }));
  return <Tabs label={t('title')} tabs={tabs} />;
}
