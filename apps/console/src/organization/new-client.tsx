import { useMutation } from '@tanstack/react-query';
import { useState, type FormEvent, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { Button } from '../ui/button.tsx';
import { Dialog, DialogActions } from '../ui/dialog.tsx';
import { Select } from '../ui/form.tsx';
import type { NewFormProps } from '../ui/list-page.tsx';
import { useSay } from '../ui/toasts.tsx';
import { bodyOf, NEW_CLIENT, type NewClient } from './client.ts';
import { ClientFields } from './client-fields.tsx';
import { Refused } from './refused.tsx';
import { useChanged } from './use-acts.tsx';

interface NewClientProps extends NewFormProps {
  onSecret: (secret: string | null) => void;
}

export function NewClientDialog({ onClose, onMade, onSecret }: NewClientProps): ReactNode {
  const t = useTranslations('organization');
  const api = useApi();
  const say = useSay();
  const changed = useChanged();
  const [draft, setDraft] = useState(NEW_CLIENT);
  const register = useMutation({
    mutationFn: async (body: NewClient) => (await api.POST('/v1/identity/oauth-clients', { body })).data,
    onSuccess: async (made) => {
      // Whatever opens last lies on top: its panel waits until the secret is kept.
      if (made.type === 'confidential') {
        onClose();
        onSecret(made.client_secret ?? null);
      } else onMade(made);
      say(t('clientMade'));
      await changed();
    },
  });
  const send = (event: FormEvent): void => {
    event.preventDefault();
    register.mutate({ ...bodyOf(draft), type: draft.type });
  };
  return (
    <Dialog open onClose={onClose} place="side" title={t('newClient')} lead={t('newClientLead')}>
      <form onSubmit={send} className="flex flex-col gap-4">
        <Select
          label={t('type')}
          hint={t(`clientTypeHints.${draft.type}`)}
          value={draft.type}
          options={(['confidential', 'public'] as const).map((value) => ({
            value,
            label: t(`clientTypes.${value}`),
          }))}
          onChange={({ target }) =>
            setDraft({ ...draft, type: target.value === 'public' ? 'public' : 'confidential' })
          }
        />
        <ClientFields draft={draft} set={(more) => setDraft({ ...draft, ...more })} error={register.error} />
        <Refused error={register.error} />
        <DialogActions>
          <Button onClick={onClose}>{t('cancel')}</Button>
          <Button type="submit" look="main" busy={register.isPending}>
            {t('newClient')}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
