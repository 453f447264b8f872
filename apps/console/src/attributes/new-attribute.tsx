import { useMutation } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Failure } from '../ui/notices.tsx';
import { useSay } from '../ui/toasts.tsx';
import { bodyOf, NEW_ATTRIBUTE, type Attribute } from './attribute-draft.ts';
import { AttributeForm } from './attribute-form.tsx';
import { Forecast } from './forecast.tsx';
import { useAttributesChanged, useForecast, type OnFailure, type Outcome } from './use-attributes.ts';

interface NewAttributePanelProps {
  onClose: () => void;
  onMade: (attribute: Attribute) => void;
}

/** Another attribute; what contacts have already is looked at first. */
export function NewAttributePanel({ onClose, onMade }: NewAttributePanelProps): ReactNode {
  const t = useTranslations('attributes');
  const api = useApi();
  const [draft, setDraft] = useState(NEW_ATTRIBUTE);
  const create = useCreate(onMade);
  const forecast = useForecast({
    ask: async () => {
      const body = { ...bodyOf(draft), dry_run: true };
      return (await api.POST('/v1/core/attribute-definitions', { body })).data as Outcome;
    },
    go: (on_failure) => create.mutate({ ...bodyOf(draft), on_failure }),
  });
  const error = forecast.error ?? create.error;
  return (
    <Dialog open onClose={onClose} place="side" title={t('new')} lead={t('newLead')}>
      <AttributeForm
        draft={draft}
        onChange={(changed) => {
          forecast.forget();
          setDraft(changed);
        }}
        onSend={forecast.begin}
        busy={forecast.busy || create.isPending}
        error={error}
        action={t('create')}
      >
        {error !== null && <Failure error={error} />}
        {forecast.lost !== undefined && (
          <Forecast
            outcome={forecast.lost}
            action={t('saveAndClear')}
            busy={create.isPending}
            onClear={() => create.mutate({ ...bodyOf(draft), on_failure: 'clear' })}
          />
        )}
      </AttributeForm>
    </Dialog>
  );
}

function useCreate(onMade: (attribute: Attribute) => void) {
  const t = useTranslations('attributes');
  const api = useApi();
  const say = useSay();
  const changed = useAttributesChanged();
  return useMutation({
    mutationFn: async (body: ReturnType<typeof bodyOf> & { on_failure: OnFailure }) =>
      (await api.POST('/v1/core/attribute-definitions', { body })).data as Attribute,
    onSuccess: async (attribute) => {
      await changed();
      say(t('made', { name: attribute.label }));
      onMade(attribute);
    },
  });
}
