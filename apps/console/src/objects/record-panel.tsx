import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useMay } from '../session/use-session.tsx';
import { Detail, Details, Id } from '../ui/details.tsx';
import { Note } from '../ui/notices.tsx';
import { ResourcePanel } from '../ui/resource-panel.tsx';
import { ResourceSteps } from '../ui/resource-steps.tsx';
import { Time } from '../ui/time.tsx';
import { useEditDraft } from '../ui/use-draft.tsx';
import type { Reading } from '../ui/use-edit.tsx';
import { nameOfRecord, openFields, type ObjectDefinition, type ObjectRecord } from './object.ts';
import { RecordForm } from './record-form.tsx';
import { useObjectsChanged, useRecord, useRecordApi } from './use-objects.ts';
import { changedIn, draftsOf, valuesOf } from './value-draft.ts';
import { ValueView } from './value-view.tsx';

interface RecordPanelProps {
  definition: ObjectDefinition;
  id: string;
  onClose: () => void;
}

/** One record: all of its values, and the ways to change it. */
export function RecordPanel({ definition, id, onClose }: RecordPanelProps): ReactNode {
  const t = useTranslations('objects');
  const read = useRecord(definition.id, id);
  return (
    <ResourcePanel
      read={read}
      title={read.data === undefined ? t('record') : nameOfRecord(definition, read.data.data)}
      keptAs={`records/${id}`}
      onClose={onClose}
      shown={({ data: record }, onEdit) => (
        <>
          {record.deleted_at !== null && <Note>{t('recordDeleted')}</Note>}
          <Steps definition={definition} record={record} onEdit={onEdit} onGone={onClose} />
          <Details>
            {openFields(definition).map((field) => (
              <Detail key={field.key} name={field.label}>
                {record.values[field.key] == null ? (
                  <span className="text-soft">–</span>
                ) : (
                  <ValueView field={field} value={record.values[field.key]} />
                )}
              </Detail>
            ))}
            <Detail name={t('changedAt')}>
              <Time at={record.updated_at} />
            </Detail>
            <Detail name={t('id')}>
              <Id value={record.id} />
            </Detail>
          </Details>
        </>
      )}
      form={(opened, onDone) => <EditRecord definition={definition} opened={opened} onDone={onDone} />}
    />
  );
}

interface StepsProps {
  definition: ObjectDefinition;
  record: ObjectRecord;
  onEdit: () => void;
  onGone: () => void;
}

/** Of a definition that is deleted, records can only be deleted and removed. */
function Steps({ definition, record, onEdit, onGone }: StepsProps): ReactNode {
  const t = useTranslations('objects');
  const may = useMay();
  const changed = useObjectsChanged();
  const api = useRecordApi(definition.id, record.id);
  const active = definition.deleted_at === null;
  const mayDelete = may('crm.objects.delete');
  return (
    <ResourceSteps
      name={nameOfRecord(definition, record)}
      deleted={record.deleted_at !== null}
      onEdit={active && may('crm.objects.update') ? onEdit : undefined}
      remove={mayDelete ? api.remove : undefined}
      restore={active && mayDelete ? api.restore : undefined}
      purge={may('crm.objects.purge') ? api.purge : undefined}
      purgeLead={t('purgeRecordLead')}
      changed={changed}
      onGone={onGone}
    />
  );
}

interface EditRecordProps {
  definition: ObjectDefinition;
  opened: Reading<ObjectRecord>;
  onDone: () => void;
}

function EditRecord({ definition, opened, onDone }: EditRecordProps): ReactNode {
  const t = useTranslations('objects');
  const changed = useObjectsChanged();
  const { read, write } = useRecordApi(definition.id, opened.data.id);
  const form = useEditDraft({
    keptAs: `records/${opened.data.id}`,
    opened,
    draftOf: ({ values }: ObjectRecord) => draftsOf(definition, values),
    bodyOf: (draft) => valuesOf(definition, draft),
    read: () => read(),
    write: (body, on) => write(changedIn(on.data.values, body), on.etag),
    nameOf: (key) => definition.fields.find((field) => field.key === key)?.label ?? key,
    said: (now) => t('recordSaved', { name: nameOfRecord(definition, now) }),
    changed,
    onDone,
  });
  return <RecordForm definition={definition} {...form} action={t('saveRecord')} />;
}
