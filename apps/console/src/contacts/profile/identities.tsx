import type { Schemas } from '@customer-platform/client';
import { X } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../../api/api.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Button, IconButton } from '../../ui/button.tsx';
import { Select, TextField } from '../../ui/form.tsx';
import { useList } from '../../ui/list.ts';
import { Failure } from '../../ui/notices.tsx';
import { Section } from '../../ui/page.tsx';
import { useSay } from '../../ui/toasts.tsx';
import { problemsAt } from '../../ui/problem-at.ts';
import { useChange } from '../use-change.ts';
import type { Contact } from '../use-contact.ts';

type Identity = Schemas['IdentityDto'];

const TYPES = ['email', 'phone', 'external_id', 'anonymous_id', 'device_id', 'custom.push_token'] as const;
const PAGE = 200;

/** The values by which events find a contact. */
export function Identities({ contact }: { contact: Contact }): ReactNode {
  const t = useTranslations('contacts');
  const api = useApi();
  const { id } = contact;
  const list = useList(['contacts', id, 'identities'], async (cursor, signal) => {
    const params = { path: { id }, query: { limit: PAGE, ...(cursor === undefined ? {} : { cursor }) } };
    return (await api.GET('/v1/core/contacts/{id}/identities', { params, signal })).data;
  });
  return (
    <Section title={t('identities.title')} lead={t('identities.lead')}>
      {list.loading && <div aria-busy className="bones h-16" />}
      {list.error != null && <Failure error={list.error} again={list.again} />}
      {list.items.length > 0 && (
        <ul className="flex flex-col divide-y divide-line rounded-panel border border-line">
          {list.items.map((identity) => (
            <li key={identity.id}>
              <Row identity={identity} contactId={id} removable={contact.deleted_at === null} />
            </li>
          ))}
        </ul>
      )}
      {contact.deleted_at === null && <Add contactId={id} />}
    </Section>
  );
}

interface RowProps {
  identity: Identity;
  contactId: string;
  removable: boolean;
}

function Row({ identity, contactId, removable }: RowProps): ReactNode {
  const t = useTranslations('contacts');
  const api = useApi();
  const say = useSay();
  const { id, type, value, verified, primary } = identity;
  const add = useAdd(contactId);
  const remove = useChange(
    contactId,
    async () => {
      const params = { path: { id: contactId, identity_id: id } };
      await api.DELETE('/v1/core/contacts/{id}/identities/{identity_id}', { params });
    },
    () => say(t('identities.removed', { value }), () => add.mutateAsync({ type, value, verified })),
  );
  const error = remove.error ?? add.error;
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-1 py-1 pr-1 pl-3">
      <span className="w-28 shrink-0 text-xs text-soft">{type}</span>
      <span dir="auto" className="min-w-0 grow basis-32">
        {value}
      </span>
      {primary && <Badge>{t('identities.primary')}</Badge>}
      {verified && <Badge tone="good">{t('identities.verified')}</Badge>}
      {removable && (
        <IconButton
          label={t('identities.remove', { value })}
          busy={remove.isPending}
          onClick={() => remove.mutate()}
        >
          <X aria-hidden className="size-4" />
        </IconButton>
      )}
      {error !== null && (
        <div className="basis-full pr-2 pb-1">
          <Failure error={error} />
        </div>
      )}
    </div>
  );
}

function useAdd(contactId: string, onDone?: () => void) {
  const api = useApi();
  return useChange(
    contactId,
    async (body: { type: string; value: string; verified?: boolean }) => {
      await api.POST('/v1/core/contacts/{id}/identities', { params: { path: { id: contactId } }, body });
    },
    onDone,
  );
}

function Add({ contactId }: { contactId: string }): ReactNode {
  const t = useTranslations('contacts');
  const say = useSay();
  const [type, setType] = useState<string>('email');
  const [value, setValue] = useState('');
  const add = useAdd(contactId, () => {
    setValue('');
    say(t('identities.added'));
  });
  const errors = problemsAt(add.error);
  return (
    <form
      className="flex flex-col gap-3"
      onSubmit={(event) => {
        event.preventDefault();
        add.mutate({ type, value: value.trim() });
      }}
    >
      <div className="flex flex-wrap items-start gap-3">
        <Select
          label={t('identities.type')}
          value={type}
          onChange={(event) => setType(event.target.value)}
          options={TYPES.map((each) => ({ value: each, label: each }))}
        />
        <div className="min-w-0 grow basis-48">
          <TextField
            label={t('identities.value')}
            required
            value={value}
            error={errors['/value']}
            onChange={(event) => setValue(event.target.value)}
          />
        </div>
        <Button type="submit" busy={add.isPending} className="mt-5.5">
          {t('add')}
        </Button>
      </div>
      {add.error !== null && errors['/value'] === undefined && <Failure error={add.error} />}
    </form>
  );
}
