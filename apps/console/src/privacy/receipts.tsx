import type { ReactNode } from 'react';
import { useFormatter, useTranslations } from 'use-intl';
import { Badge } from '../ui/badge.tsx';
import { Id } from '../ui/details.tsx';
import { Panel, Section } from '../ui/page.tsx';
import type { SubjectRequest } from './subject-request.ts';

type Receipt = SubjectRequest['receipts'][number];

const TONES = { pending: 'neutral', received: 'accent', verified: 'good', refused: 'bad' } as const;

/** What each module has answered to an erasure, and what proves it. */
export function Receipts({ receipts }: { receipts: readonly Receipt[] }): ReactNode {
  const t = useTranslations('privacy');
  return (
    <Section title={t('receipts')} lead={t('receiptsLead')}>
      {receipts.map((receipt) => (
        <Panel key={receipt.module} label={t('receiptOf', { module: receipt.module })}>
          <ReceiptContent receipt={receipt} />
        </Panel>
      ))}
    </Section>
  );
}

function ReceiptContent({ receipt: { module, state, counts, signature } }: { receipt: Receipt }): ReactNode {
  const t = useTranslations('privacy');
  const { number } = useFormatter();
  const taken = Object.entries(counts ?? {}).filter(([, count]) => count > 0);
  return (
    <div className="flex flex-col gap-1">
      <div className="flex flex-wrap items-center gap-2">
        <span className="font-medium">{module}</span>
        <Badge tone={TONES[state]}>{t(`receiptStates.${state}`)}</Badge>
      </div>
      {counts !== null && (
        <p className="text-soft">
          {taken.length === 0
            ? t('nothingTaken')
            : taken.map(([name, count]) => `${name} ${number(count)}`).join(' · ')}
        </p>
      )}
      {signature !== null && (
        <div className="flex min-w-0 items-center gap-2">
          <span className="text-xs text-soft">{t('signature')}</span>
          <Id value={signature} />
        </div>
      )}
    </div>
  );
}
