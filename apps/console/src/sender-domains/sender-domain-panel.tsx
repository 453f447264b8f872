import { Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { useMay, usePerson } from '../session/use-session.tsx';
import { Button } from '../ui/button.tsx';
import { Detail, Details, Id } from '../ui/details.tsx';
import { Confirm } from '../ui/dialog.tsx';
import { Failure, Note } from '../ui/notices.tsx';
import { ResourcePanel } from '../ui/resource-panel.tsx';
import { ResourceSteps } from '../ui/resource-steps.tsx';
import { Time } from '../ui/time.tsx';
import { DnsRecords } from './dns-records.tsx';
import { DomainStateBadge } from './domain-state.tsx';
import { failsAt, type SenderDomain } from './sender-domain.ts';
import { useRotate, useSenderDomain, useSenderDomainsChanged, useVerify } from './use-sender-domains.ts';

/** One domain: what to publish for it, what DNS says of that, and the ways to go on. */
export function SenderDomainPanel({ id, onClose }: { id: string; onClose: () => void }): ReactNode {
  const t = useTranslations('sender-domains');
  const read = useSenderDomain(id);
  return (
    <ResourcePanel
      read={read}
      title={read.data?.data.domain ?? t('domain')}
      onClose={onClose}
      shown={({ data: domain }) => (
        <>
          <Standing domain={domain} />
          <div className="flex flex-wrap gap-2 empty:hidden">
            {domain.deleted_at === null && <Verify domain={domain} />}
            {domain.deleted_at === null && <Rotate domain={domain} />}
            <Steps domain={domain} onGone={onClose} />
          </div>
          {domain.deleted_at === null && <DnsRecords domain={domain} />}
          <Facts domain={domain} />
        </>
      )}
    />
  );
}

/** What its state means, and what is to be done. */
function Standing({ domain }: { domain: SenderDomain }): ReactNode {
  const t = useTranslations('sender-domains');
  const { state, failing_since: failing, deleted_at: deletedAt } = domain;
  if (deletedAt !== null) return <Note>{t('deletedLead')}</Note>;
  if (state === 'verified' && failing === null)
    return (
      <Note tone="good">
        {t('verifiedLead')} <ToSender />
      </Note>
    );
  if (state === 'verified' && failing !== null)
    return (
      <Note tone="warn">
        {t('failingLead')} <Time at={failsAt(failing)} />
      </Note>
    );
  return <Note tone="warn">{t(state === 'failed' ? 'failedLead' : 'pendingLead')}</Note>;
}

/** Where one says from which address mail leaves. */
function ToSender(): ReactNode {
  const t = useTranslations('sender-domains');
  const may = useMay();
  const { organization } = usePerson();
  if (!may('messaging.channels.read')) return t('senderLead');
  return (
    <>
      {t('senderLead')}{' '}
      <Link
        to="/o/$organization/messages/channels"
        params={{ organization: organization.slug }}
        search={{ open: 'email' }}
        className="underline"
      >
        {t('toSender')}
      </Link>
    </>
  );
}

function Verify({ domain: { id } }: { domain: SenderDomain }): ReactNode {
  const t = useTranslations('sender-domains');
  const may = useMay();
  const verify = useVerify(id);
  if (!may('messaging.domains.verify')) return null;
  return (
    <>
      <Button look="main" busy={verify.isPending} onClick={() => verify.mutate()}>
        {t(verify.isPending ? 'verifying' : 'verify')}
      </Button>
      {verify.error !== null && (
        <div className="order-last w-full">
          <Failure error={verify.error} />
        </div>
      )}
    </>
  );
}

function Rotate({ domain: { id, domain } }: { domain: SenderDomain }): ReactNode {
  const t = useTranslations('sender-domains');
  const may = useMay();
  const [asking, setAsking] = useState(false);
  const rotate = useRotate(id);
  if (!may('messaging.domains.create')) return null;
  const close = (): void => {
    rotate.reset();
    setAsking(false);
  };
  return (
    <>
      <Button onClick={() => setAsking(true)}>{t('rotate')}</Button>
      <Confirm
        open={asking}
        onClose={close}
        title={t('rotateTitle', { domain })}
        action={t('rotate')}
        busy={rotate.isPending}
        error={rotate.error}
        onConfirm={() => rotate.mutate(undefined, { onSuccess: close })}
      >
        {t('rotateLead')}
      </Confirm>
    </>
  );
}

function Steps({ domain, onGone }: { domain: SenderDomain; onGone: () => void }): ReactNode {
  const t = useTranslations('sender-domains');
  const may = useMay();
  const api = useApi();
  const changed = useSenderDomainsChanged();
  const params = { path: { id: domain.id } };
  const mayDelete = may('messaging.domains.delete');
  return (
    <ResourceSteps
      name={domain.domain}
      deleted={domain.deleted_at !== null}
      remove={mayDelete ? () => api.DELETE('/v1/messaging/sender-domains/{id}', { params }) : undefined}
      restore={
        mayDelete ? () => api.POST('/v1/messaging/sender-domains/{id}/restore', { params }) : undefined
      }
      purge={
        may('messaging.domains.purge')
          ? () => api.DELETE('/v1/messaging/sender-domains/{id}/purge', { params })
          : undefined
      }
      purgeLead={t('purgeLead')}
      changed={changed}
      onGone={onGone}
    />
  );
}

function Facts({ domain }: { domain: SenderDomain }): ReactNode {
  const t = useTranslations('sender-domains');
  return (
    <Details>
      <Detail name={t('state')}>
        <DomainStateBadge domain={domain} />
      </Detail>
      {domain.verified_at !== null && (
        <Detail name={t('verifiedAt')}>
          <Time at={domain.verified_at} />
        </Detail>
      )}
      {domain.failing_since !== null && (
        <Detail name={t('failingSince')}>
          <Time at={domain.failing_since} />
        </Detail>
      )}
      <Detail name={t('selector')}>
        <code className="font-mono text-xs">{domain.selector}</code>
      </Detail>
      <Detail name={t('createdAt')}>
        <Time at={domain.created_at} />
      </Detail>
      <Detail name={t('id')}>
        <Id value={domain.id} />
      </Detail>
    </Details>
  );
}
