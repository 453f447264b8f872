import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { useMay, usePerson } from '../session/use-session.tsx';
import { ButtonLink } from '../ui/button.tsx';
import { Detail, Details, Id } from '../ui/details.tsx';
import { Note } from '../ui/notices.tsx';
import { ResourcePanel } from '../ui/resource-panel.tsx';
import { ResourceSteps } from '../ui/resource-steps.tsx';
import { Time } from '../ui/time.tsx';
import { useEditDraft } from '../ui/use-draft.tsx';
import type { Reading } from '../ui/use-edit.tsx';
import { changeOf, draftOf } from './definition-draft.ts';
import { DefinitionForm } from './definition-form.tsx';
import { DefinitionState } from './definition-state.tsx';
import { FieldList } from './field-list.tsx';
import { BlockingRecords } from './blocking-records.tsx';
import type { ObjectDefinition } from './object.ts';
import { useDefinition, useDefinitionApi, useObjectsChanged } from './use-objects.ts';

/** One definition: its fields, how far their indexes are, and the ways to change it. */
export function DefinitionPanel({ id, onClose }: { id: string; onClose: () => void }): ReactNode {
  const t = useTranslations('objects');
  const read = useDefinition(id);
  return (
    <ResourcePanel
      read={read}
      title={read.data?.data.name ?? t('definition')}
      keptAs={`objects/${id}`}
      onClose={onClose}
      shown={({ data: definition }, onEdit) => (
        <>
          {definition.deleted_at !== null && <Note>{t('deletedLead')}</Note>}
          <div className="flex flex-wrap gap-2 empty:hidden">
            <ToRecords definition={definition} />
            <Steps definition={definition} onEdit={onEdit} onGone={onClose} />
          </div>
          <FieldList definition={definition} />
          <Facts definition={definition} />
        </>
      )}
      form={(opened, onDone) => <EditDefinition opened={opened} onDone={onDone} />}
    />
  );
}

function ToRecords({ definition }: { definition: ObjectDefinition }): ReactNode {
  const t = useTranslations('objects');
  const { organization } = usePerson();
  const { id, slug, deleted_at: deletedAt, record_count: count } = definition;
  return (
    <ButtonLink
      to="/o/$organization/objects/$definition"
      params={{ organization: organization.slug, definition: deletedAt === null ? slug : id }}
      search={{}}
    >
      {t('recordCount', { count })}
    </ButtonLink>
  );
}

interface StepsProps {
  definition: ObjectDefinition;
  onEdit: () => void;
  onGone: () => void;
}

function Steps({ definition, onEdit, onGone }: StepsProps): ReactNode {
  const t = useTranslations('objects');
  const may = useMay();
  const api = useApi();
  const changed = useObjectsChanged();
  const params = { path: { id: definition.id } };
  const mayDelete = may('crm.objects.delete');
  return (
    <ResourceSteps
      name={definition.name}
      deleted={definition.deleted_at !== null}
      onEdit={may('crm.objects.update') ? onEdit : undefined}
      remove={mayDelete ? () => api.DELETE('/v1/crm/object-definitions/{id}', { params }) : undefined}
      restore={mayDelete ? () => api.POST('/v1/crm/object-definitions/{id}/restore', { params }) : undefined}
      purge={
        may('crm.objects.purge')
          ? () => api.DELETE('/v1/crm/object-definitions/{id}/purge', { params })
          : undefined
      }
      purgeLead={t('purgeLead', { count: definition.record_count })}
      changed={changed}
      onGone={onGone}
    />
  );
}

function Facts({ definition }: { definition: ObjectDefinition }): ReactNode {
  const t = useTranslations('objects');
  return (
    <Details>
      <Detail name={t('slug')}>
        <code className="font-mono text-xs">{definition.slug}</code>
      </Detail>
      <Detail name={t('state')}>
        <DefinitionState definition={definition} />
      </Detail>
      <Detail name={t('changedAt')}>
        <Time at={definition.updated_at} />
      </Detail>
      <Detail name={t('id')}>
        <Id value={definition.id} />
      </Detail>
    </Details>
  );
}

interface EditDefinitionProps {
  opened: Reading<ObjectDefinition>;
  onDone: () => void;
}

function EditDefinition({ opened, onDone }: EditDefinitionProps): ReactNode {
  const t = useTranslations('objects');
  const changed = useObjectsChanged();
  const { read, write } = useDefinitionApi(opened.data.id);
  const form = useEditDraft({
    keptAs: `objects/${opened.data.id}`,
    opened,
    draftOf,
    bodyOf: changeOf,
    read: () => read(),
    write: (body, { etag }) => write(body, etag),
    nameOf: (field) => t(field),
    said: ({ name }) => t('saved', { name }),
    changed,
    onDone,
  });
  return (
    <DefinitionForm stored {...form} action={t('save')}>
      <BlockingRecords error={form.error} fields={opened.data.fields} />
      {form.children}
    </DefinitionForm>
  );
}
