import { useMutation } from '@tanstack/react-query';
import { useState, type FormEvent, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { Button } from '../ui/button.tsx';
import { Dialog, DialogActions } from '../ui/dialog.tsx';
import type { NewFormProps } from '../ui/list-page.tsx';
import { useSay } from '../ui/toasts.tsx';
import { bodyOf, NEW_CONNECTION, type NewConnection } from './connection.ts';
import { ConnectionFields } from './connection-fields.tsx';
import { Refused } from './refused.tsx';
import { useChanged } from './use-acts.tsx';

export function NewConnectionDialog({ onClose, onMade }: NewFormProps): ReactNode {
  const t = useTranslations('organization');
  const api = useApi();
  const say = useSay();
  const changed = useChanged();
  const [draft, setDraft] = useState(NEW_CONNECTION);
  const make = useMutation({
    mutationFn: async (body: NewConnection) =>
      (await api.POST('/v1/identity/sso-connections', { body })).data,
    onSuccess: async (made) => {
      onMade(made);
      say(t('connectionMade'));
      await changed();
    },
  });
  const send = (event: FormEvent): void => {
    event.preventDefault();
    make.mutate({ ...bodyOf(draft), protocol: 'oidc', client_secret: draft.clientSecret });
  };
  return (
    <Dialog open onClose={onClose} place="side" title={t('newConnection')} lead={t('newConnectionLead')}>
      <form onSubmit={send} className="flex flex-col gap-4">
        <ConnectionFields
          draft={draft}
          set={(more) => setDraft({ ...draft, ...more })}
          error={make.error}
          isNew
        />
        <Refused error={make.error} />
        <DialogActions>
          <Button onClick={onClose}>{t('cancel')}</Button>
          <Button type="submit" look="main" busy={make.isPending}>
            {t('newConnection')}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
