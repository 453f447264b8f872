import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { Failure, Note } from '../../ui/notices.tsx';
import { ChainRow } from './chain-row.tsx';
import { chainsOf } from './chains.ts';
import { useChainPage } from './use-chain.ts';
import type { Timeline } from './use-timeline.ts';

interface LinkedChainProps {
  contactId: string;
  /** The correlation id that the address names. */
  correlationId: string;
  timeline: Timeline;
  onClose: () => void;
}

/** The chain that a link leads to, where it is older than what is loaded or left out by a filter. */
export function LinkedChain({ contactId, correlationId, timeline, onClose }: LinkedChainProps): ReactNode {
  const t = useTranslations('contacts');
  const { data, error, refetch } = useChainPage(contactId, correlationId, correlationId);
  if (error !== null) return <Failure error={error} again={() => void refetch()} />;
  if (data === undefined) return <div aria-busy className="bones h-11" />;
  const [chain] = chainsOf(data.page.data);
  if (chain === undefined) return <Note>{t('timeline.linkedGone')}</Note>;
  return (
    <section aria-label={t('timeline.linked')}>
      <h2 className="pb-1 pl-2 text-xs font-medium text-soft">{t('timeline.linked')}</h2>
      <ChainRow
        contactId={contactId}
        chain={chain}
        all={timeline.items}
        now={timeline.now}
        open
        onToggle={onClose}
      />
    </section>
  );
}
