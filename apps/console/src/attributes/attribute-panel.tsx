import { useMutation } from '@tanstack/react-query';
import { useRef, useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { useMay } from '../session/use-session.tsx';
import { Failure } from '../ui/notices.tsx';
import { ResourcePanel } from '../ui/resource-panel.tsx';
import { ResourceSteps } from '../ui/resource-steps.tsx';
import { useSay } from '../ui/toasts.tsx';
import { useEdit, type Reading } from '../ui/use-edit.tsx';
import { changeOf, declaresOtherwise, draftOf, type Attribute } from './attribute-draft.ts';
import { AttributeFacts, ConversionNote } from './attribute-facts.tsx';
import { AttributeForm } from './attribute-form.tsx';
import { Forecast } from './forecast.tsx';
import {
  lostBy,
  useAttribute,
  useAttributesChanged,
  useForecast,
  type OnFailure,
  type Outcome,
} from './use-attributes.ts';

/** One definition: what it declares, how far a conversion has come, and the ways to change it. */
export function AttributePanel({ id, onClose }: { id: string; onClose: () => void }): ReactNode {
  const t = useTranslations('attributes');
  const read = useAttribute(id);
  return (
    <ResourcePanel
      read={read}
      title={read.data?.data.label ?? t('attribute')}
      onClose={onClose}
      shown={({ data: attribute }, onEdit) => (
        <>
          <ConversionNote attribute={attribute} />
          <Steps attribute={attribute} onEdit={onEdit} onGone={onClose} />
          <AttributeFacts attribute={attribute} />
        </>
      )}
      form={(opened, onDone) => <EditAttribute opened={opened} onDone={onDone} />}
    />
  );
}

interface StepsProps {
  attribute: Attribute;
  onEdit: () => void;
  onGone: () => void;
}

/** While values are being converted there is nothing to change but to wait. */
function Steps({ attribute, onEdit, onGone }: StepsProps): ReactNode {
  const t = useTranslations('attributes');
  const may = useMay();
  const api = useApi();
  const changed = useAttributesChanged();
  const { restore, lost, clear } = useRestore(attribute);
  const params = { path: { id: attribute.id } };
  const mayDelete = may('core.attributes.delete') && attribute.conversion === null;
  return (
    <>
      <ResourceSteps
        name={attribute.label}
        deleted={attribute.deleted_at !== null}
        onEdit={may('core.attributes.update') && attribute.conversion === null ? onEdit : undefined}
        remove={mayDelete ? () => api.DELETE('/v1/core/attribute-definitions/{id}', { params }) : undefined}
        restore={mayDelete ? restore : undefined}
        purge={
          may('core.attributes.purge')
            ? () => api.DELETE('/v1/core/attribute-definitions/{id}/purge', { params })
            : undefined
        }
        purgeLead={t('purgeLead')}
        changed={changed}
        onGone={onGone}
      />
      {clear.error !== null && <Failure error={clear.error} />}
      {attribute.deleted_at !== null && lost !== undefined && (
        <Forecast
          outcome={lost}
          action={t('restoreAndClear')}
          busy={clear.isPending}
          onClear={() => clear.mutate()}
        />
      )}
    </>
  );
}

/** What contacts got meanwhile may be lost by it: that is shown, and a second way takes it away. */
function useRestore({ id, label }: Attribute) {
  const t = useTranslations('ui');
  const api = useApi();
  const say = useSay();
  const changed = useAttributesChanged();
  const [lost, setLost] = useState<Outcome>();
  const send = (onFailure: OnFailure) =>
    api.POST('/v1/core/attribute-definitions/{id}/restore', {
      params: { path: { id }, query: { on_failure: onFailure } },
    });
  const restore = async () => {
    setLost(undefined);
    try {
      return await send('refuse');
    } catch (error) {
      setLost(lostBy(error));
      throw error;
    }
  };
  const clear = useMutation({
    mutationFn: () => send('clear'),
    onSuccess: async () => {
      setLost(undefined);
      await changed();
      say(t('restoredSaid', { name: label }));
    },
  });
  return { restore, lost, clear };
}

function EditAttribute({ opened, onDone }: { opened: Reading<Attribute>; onDone: () => void }): ReactNode {
  const t = useTranslations('attributes');
  const api = useApi();
  const say = useSay();
  const changed = useAttributesChanged();
  const [draft, setDraft] = useState(() => draftOf(opened.data));
  const onFailure = useRef<OnFailure>('refuse');
  const path = { id: opened.data.id };
  const edit = useEdit({
    opened,
    body: changeOf(draft),
    bodyOf: (attribute: Attribute) => changeOf(draftOf(attribute)),
    read: () => api.GET('/v1/core/attribute-definitions/{id}', { params: { path } }),
    write: async (body, { etag }) => {
      const params = { path, query: { on_failure: onFailure.current } };
      const written = await api.PATCH('/v1/core/attribute-definitions/{id}', { params, body, ifMatch: etag });
      return { ...written, data: written.data as Attribute };
    },
    nameOf: (field) => t(`fields.${field}`),
    onTheirs: (now) => setDraft(draftOf(now)),
    onSaved: (now) => {
      void changed();
      say(t('saved', { name: now.label }));
      onDone();
    },
  });
  const save = (how: OnFailure): void => {
    onFailure.current = how;
    edit.save();
  };
  const forecast = useForecast({
    ask: async () => {
      const params = { path, query: { dry_run: 'true' as const } };
      return (await api.PATCH('/v1/core/attribute-definitions/{id}', { params, body: changeOf(draft) }))
        .data as Outcome;
    },
    go: save,
  });
  return (
    <AttributeForm
      keyFixed
      draft={draft}
      onChange={(after) => {
        forecast.forget();
        setDraft(after);
      }}
      onSend={() => (declaresOtherwise(draft, opened.data) ? forecast.begin() : save('refuse'))}
      onCancel={onDone}
      busy={edit.busy || forecast.busy}
      error={forecast.error ?? edit.error}
      action={t('save')}
    >
      {forecast.error !== null && <Failure error={forecast.error} />}
      {forecast.lost !== undefined && (
        <Forecast
          outcome={forecast.lost}
          action={t('saveAndClear')}
          busy={edit.busy}
          onClear={() => save('clear')}
        />
      )}
      {edit.shown}
    </AttributeForm>
  );
}
