import { ProblemError } from '@customer-platform/client';
import { useNavigate, useParams } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../../api/api.tsx';
import { useNameOf } from '../../people/person.tsx';
import { useMay } from '../../session/use-session.tsx';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { Failure } from '../../ui/notices.tsx';
import { Section } from '../../ui/page.tsx';
import { useSay } from '../../ui/toasts.tsx';
import { useChange } from '../use-change.ts';
import type { Contact } from '../use-contact.ts';

/** Deleting, which can be taken back, and what follows it. */
export function Lifecycle({ contact }: { contact: Contact }): ReactNode {
  const t = useTranslations('contacts');
  const may = useMay();
  const deleted = contact.deleted_at !== null;
  const mayPurge = deleted && may('core.contacts.purge');
  if (!may('core.contacts.delete') && !mayPurge) return null;
  return (
    <Section title={t('lifecycle.title')} lead={deleted ? t('lifecycle.deletedLead') : t('lifecycle.lead')}>
      {may('core.contacts.delete') &&
        (deleted ? <Restore contact={contact} /> : <Delete contact={contact} />)}
      {mayPurge && <Purge contact={contact} />}
    </Section>
  );
}

function useRestore(contact: Contact) {
  const t = useTranslations('contacts');
  const api = useApi();
  const say = useSay();
  const params = { path: { id: contact.id } };
  return useChange(
    contact.id,
    async () => {
      await api.POST('/v1/core/contacts/{id}/restore', { params });
    },
    () => say(t('lifecycle.restored')),
  );
}

function Restore({ contact }: { contact: Contact }): ReactNode {
  const t = useTranslations('contacts');
  const restore = useRestore(contact);
  return (
    <div className="flex flex-col items-start gap-3">
      <Button look="main" busy={restore.isPending} onClick={() => restore.mutate()}>
        {t('lifecycle.restore')}
      </Button>
      {restore.error !== null && <Failure error={restore.error} />}
    </div>
  );
}

function Delete({ contact }: { contact: Contact }): ReactNode {
  const t = useTranslations('contacts');
  const api = useApi();
  const say = useSay();
  const restore = useRestore(contact);
  const remove = useChange(
    contact.id,
    async () => {
      await api.DELETE('/v1/core/contacts/{id}', { params: { path: { id: contact.id } } });
    },
    () => say(t('lifecycle.deleted'), () => restore.mutateAsync()),
  );
  return (
    <div className="flex flex-col items-start gap-3">
      <Button look="danger" busy={remove.isPending} onClick={() => remove.mutate()}>
        {t('lifecycle.delete')}
      </Button>
      {remove.error !== null && <Failure error={remove.error} />}
    </div>
  );
}

function Purge({ contact }: { contact: Contact }): ReactNode {
  const nameOf = useNameOf();
  const t = useTranslations('contacts');
  const api = useApi();
  const say = useSay();
  const [asking, setAsking] = useState(false);
  const { organization = '' } = useParams({ strict: false });
  const navigate = useNavigate();
  const purge = useChange(
    contact.id,
    async () => {
      await api.DELETE('/v1/core/contacts/{id}/purge', { params: { path: { id: contact.id } } });
    },
    () => {
      say(t('lifecycle.purged'));
      void navigate({ to: '/o/$organization/contacts', params: { organization } });
    },
  );
  const references = referencesOf(purge.error);
  const close = (): void => {
    setAsking(false);
    purge.reset();
  };
  return (
    <div>
      <Button look="danger" onClick={() => setAsking(true)}>
        {t('lifecycle.purge')}
      </Button>
      <Confirm
        open={asking}
        onClose={close}
        title={t('lifecycle.purgeTitle', { name: nameOf(contact).slice(0, 80) })}
        action={t('lifecycle.purge')}
        danger
        busy={purge.isPending}
        error={references === undefined ? purge.error : undefined}
        onConfirm={() => purge.mutate()}
      >
        {references === undefined ? <p>{t('lifecycle.purgeLead')}</p> : <Blocked references={references} />}
      </Confirm>
    </div>
  );
}

interface Reference {
  module: string;
  resource: string;
  count: number;
}

/** What stands in the way of a purge, counted. */
function Blocked({ references }: { references: readonly Reference[] }): ReactNode {
  const t = useTranslations('contacts');
  return (
    <div role="alert" className="text-ink">
      <p>{t('lifecycle.blocked')}</p>
      <ul className="mt-2 list-disc pl-5">
        {references.map(({ module, resource, count }) => (
          <li key={`${module} ${resource}`}>{t('lifecycle.blockedBy', { module, resource, count })}</li>
        ))}
      </ul>
    </div>
  );
}

function referencesOf(error: unknown): Reference[] | undefined {
  if (!(error instanceof ProblemError) || error.code !== 'resource_referenced') return undefined;
  return (error.body as { references?: Reference[] }).references;
}
