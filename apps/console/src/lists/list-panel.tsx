import type { ReactNode } from 'react';
import { useFormatter, useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { useMay } from '../session/use-session.tsx';
import { Detail, Details, Id } from '../ui/details.tsx';
import { Note } from '../ui/notices.tsx';
import { ResourcePanel } from '../ui/resource-panel.tsx';
import { ResourceSteps } from '../ui/resource-steps.tsx';
import { Time } from '../ui/time.tsx';
import { useEditDraft } from '../ui/use-draft.tsx';
import type { Reading } from '../ui/use-edit.tsx';
import { bodyOf, draftOf, ListForm } from './list-form.tsx';
import { ListMembers } from './list-members.tsx';
import { useContactList, useListsChanged, type ContactList } from './use-lists.ts';

/** One list: what it is for, who is on it, and the ways to change both. */
export function ListPanel({ id, onClose }: { id: string; onClose: () => void }): ReactNode {
  const t = useTranslations('lists');
  const read = useContactList(id);
  return (
    <ResourcePanel
      read={read}
      title={read.data?.data.name ?? t('one')}
      keptAs={`lists/${id}`}
      onClose={onClose}
      shown={({ data: list }, onEdit) => (
        <>
          {list.deleted_at !== null && <Note tone="warn">{t('deletedLead')}</Note>}
          {list.description !== null && <p className="break-words whitespace-pre-wrap">{list.description}</p>}
          <Steps list={list} onEdit={onEdit} onGone={onClose} />
          <ListMembers list={list} />
          <Facts list={list} />
        </>
      )}
      form={(opened, onDone) => <EditList opened={opened} onDone={onDone} />}
    />
  );
}

interface StepsProps {
  list: ContactList;
  onEdit: () => void;
  onGone: () => void;
}

function Steps({ list, onEdit, onGone }: StepsProps): ReactNode {
  const t = useTranslations('lists');
  const may = useMay();
  const api = useApi();
  const changed = useListsChanged();
  const params = { path: { id: list.id } };
  const mayDelete = may('crm.lists.delete');
  return (
    <ResourceSteps
      name={list.name}
      deleted={list.deleted_at !== null}
      onEdit={may('crm.lists.update') ? onEdit : undefined}
      beside
      remove={mayDelete ? () => api.DELETE('/v1/crm/lists/{id}', { params }) : undefined}
      restore={mayDelete ? () => api.POST('/v1/crm/lists/{id}/restore', { params }) : undefined}
      purge={may('crm.lists.purge') ? () => api.DELETE('/v1/crm/lists/{id}/purge', { params }) : undefined}
      purgeLead={t('purgeLead', { count: list.member_count })}
      changed={changed}
      onGone={onGone}
    />
  );
}

function Facts({ list }: { list: ContactList }): ReactNode {
  const t = useTranslations('lists');
  const { number } = useFormatter();
  return (
    <Details>
      <Detail name={t('members')}>{number(list.member_count)}</Detail>
      <Detail name={t('createdAt')}>
        <Time at={list.created_at} />
      </Detail>
      <Detail name={t('changedAt')}>
        <Time at={list.updated_at} />
      </Detail>
      <Detail name={t('id')}>
        <Id value={list.id} />
      </Detail>
    </Details>
  );
}

interface EditListProps {
  opened: Reading<ContactList>;
  onDone: () => void;
}

function EditList({ opened, onDone }: EditListProps): ReactNode {
  const t = useTranslations('lists');
  const api = useApi();
  const changed = useListsChanged();
  const params = { path: { id: opened.data.id } };
  const form = useEditDraft({
    keptAs: `lists/${opened.data.id}`,
    opened,
    draftOf,
    bodyOf,
    read: () => api.GET('/v1/crm/lists/{id}', { params }),
    write: (body, { etag: ifMatch }) => api.PATCH('/v1/crm/lists/{id}', { params, body, ifMatch }),
    nameOf: (field) => t(field),
    said: ({ name }) => t('saved', { name }),
    changed,
    onDone,
  });
  return <ListForm {...form} action={t('save')} />;
}
