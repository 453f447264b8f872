import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { Badge } from '../ui/badge.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { Section } from '../ui/page.tsx';
import { Time } from '../ui/time.tsx';
import { rolesOf, STATUS_TONES, type DomainRecord, type Role, type SenderDomain } from './sender-domain.ts';

/** What to publish in DNS, record by record, and what was found there. */
export function DnsRecords({ domain }: { domain: SenderDomain }): ReactNode {
  const t = useTranslations('sender-domains');
  return (
    <Section title={t('records')} lead={t('recordsLead')}>
      <ol className="flex flex-col gap-3">
        {rolesOf(domain).map(({ record, role }) => (
          <li key={`${record.purpose} ${record.name}`}>
            <DnsRecord record={record} role={role} />
          </li>
        ))}
      </ol>
    </Section>
  );
}

function DnsRecord({ record, role }: { record: DomainRecord; role: Role }): ReactNode {
  const t = useTranslations('sender-domains');
  const name = t(`roles.${role}.name`);
  return (
    <div role="group" aria-label={name} className="flex flex-col gap-2 rounded-panel border border-line p-3">
      <div className="flex flex-wrap items-center gap-2">
        <h3 className="font-medium">{name}</h3>
        <Badge tone={STATUS_TONES[record.status]}>{t(`statuses.${record.status}`)}</Badge>
        <span className="text-xs text-soft">{t(record.required ? 'required' : 'optional')}</span>
      </div>
      <p className="text-soft">{t(`roles.${role}.lead`)}</p>
      {record.fault !== null && <p className="text-bad">{t(`faults.${record.fault}`)}</p>}
      <dl className="grid grid-cols-[max-content_minmax(0,1fr)_max-content] items-start gap-x-3 gap-y-1">
        <Part name={t('recordType')} value={record.type} />
        <Part name={t('recordName')} value={record.name} copy={t('copyName', { record: name })} />
        <Part name={t('recordValue')} value={record.value} copy={t('copyValue', { record: name })} />
      </dl>
      {record.checked_at !== null && (
        <p className="text-xs text-soft">
          {t('checkedAt')} <Time at={record.checked_at} />
        </p>
      )}
    </div>
  );
}

function Part({ name, value, copy }: { name: string; value: string; copy?: string }): ReactNode {
  return (
    <>
      <dt className="pt-1 text-xs text-soft">{name}</dt>
      <dd className="min-w-0 pt-1 font-mono text-xs wrap-anywhere">{value}</dd>
      <dd>{copy !== undefined && <CopyButton text={value} label={copy} />}</dd>
    </>
  );
}
