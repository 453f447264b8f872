import { ProblemError } from '@customer-platform/client';
import { useState, type ReactNode } from 'react';
import { useFormatter, useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { useMay } from '../session/use-session.tsx';
import { Badge } from '../ui/badge.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { useOwnQuery } from '../ui/queries.ts';
import { Time } from '../ui/time.tsx';
import { AdjustPoints } from './points/adjust-points.tsx';
import { useWords } from './timeline/words.tsx';
import type { Contact } from './use-contact.ts';

/** Shows by what a contact is known, its points, and when it was last seen: under its name, and beside its parts where there is room. */
export function ContactFacts({ contact }: { contact: Contact }): ReactNode {
  const t = useTranslations('contacts');
  const { external_id, email, phone, last_seen_at } = contact;
  return (
    <dl className="flex flex-wrap gap-x-8 gap-y-3 xl:flex-col xl:flex-nowrap xl:rounded-panel xl:border xl:border-line xl:p-4">
      {email !== null && <Known name={t('fields.email')} value={email} />}
      {phone !== null && <Known name={t('fields.phone')} value={phone} />}
      {external_id !== null && <Known name={t('fields.external_id')} value={external_id} />}
      <Marketing contactId={contact.id} />
      <Points contactId={contact.id} />
      <Fact name={t('fields.last_seen_at')}>
        <Time at={last_seen_at} relative />
      </Fact>
    </dl>
  );
}

function Known({ name, value }: { name: string; value: string }): ReactNode {
  return (
    <Fact name={name}>
      <span className="inline-flex max-w-full min-w-0 items-center gap-1">
        <span dir="auto" className="max-w-[18rem] min-w-0 truncate" title={value}>
          {value}
        </span>
        <CopyButton text={value} />
      </span>
    </Fact>
  );
}

/** Whether the contact has agreed to marketing, on any channel. */
function Marketing({ contactId }: { contactId: string }): ReactNode {
  const t = useTranslations('contacts');
  const words = useWords();
  const api = useApi();
  const may = useMay();
  const { data } = useOwnQuery({
    queryKey: ['contacts', contactId, 'consents', 'marketing'],
    enabled: may('core.consents.read'),
    queryFn: async ({ signal }) => {
      const params = { path: { id: contactId }, query: { purpose: 'marketing' } };
      return (await api.GET('/v1/core/contacts/{id}/consents', { params, signal })).data.data;
    },
  });
  if (data === undefined) return null;
  return (
    <Fact name={t('marketing')}>
      {data.length === 0 ? (
        <Badge>{t('consents.noneShort')}</Badge>
      ) : (
        <span className="flex flex-wrap gap-1">
          {data.map(({ channel, status }) => (
            <Badge key={channel ?? ''} tone={status === 'granted' ? 'good' : 'warn'}>
              {words.channel(channel)}: {words.consent(status)}
            </Badge>
          ))}
        </span>
      )}
    </Fact>
  );
}

function Points({ contactId }: { contactId: string }): ReactNode {
  const t = useTranslations('contacts');
  const { number } = useFormatter();
  const may = useMay();
  const { data } = useBalance(contactId, may('loyalty.balances.read'));
  const [adjusting, setAdjusting] = useState(false);
  const mayAdjust = may('loyalty.transactions.create');
  if (data === undefined && !mayAdjust) return null;
  return (
    <Fact name={t('fields.points')}>
      <span className="font-medium tabular-nums">{data === undefined ? '–' : number(data.available)}</span>
      {mayAdjust && (
        <AdjustPoints
          contactId={contactId}
          label={t('points.adjust')}
          look="quiet"
          open={adjusting}
          onOpen={setAdjusting}
        />
      )}
    </Fact>
  );
}

/** A contact's points; it goes with what the timeline brings. */
export function useBalance(id: string, enabled: boolean) {
  const api = useApi();
  return useOwnQuery({
    queryKey: ['contacts', id, 'balance'],
    enabled,
    retry: (failures, error) => !(error instanceof ProblemError) && failures < 2,
    refetchInterval: 15_000,
    queryFn: async ({ signal }) =>
      (await api.GET('/v1/loyalty/contacts/{id}/balance', { params: { path: { id } }, signal })).data,
  });
}

function Fact({ name, children }: { name: string; children: ReactNode }): ReactNode {
  return (
    <div className="flex min-w-0 flex-col">
      <dt className="text-xs text-soft">{name}</dt>
      <dd className="flex min-h-7 min-w-0 items-center">{children}</dd>
    </div>
  );
}
