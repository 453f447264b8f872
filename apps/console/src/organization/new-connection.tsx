import { useMutation } from '@tanstack/react-query';
import { useState, type FormEvent, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { Button } from '../ui/button.tsx';
import { Dialog, DialogActions } from '../ui/dialog.tsx';
import { useSay } from '../ui/toasts.tsx';
import { bodyOf, NEW_CONNECTION, type NewConnection } from './connection.ts';
import { ConnectionFields } from './connection-fields.tsx';
import { Refused } from './refused.tsx';
import { useChanged } from './use-acts.tsx';

interface NewConnectionProps {
  open: boolean;
  onClose: () => void;
  onMade: (id: string) => void;
}

export function NewConnectionDialog({ open, onClose, onMade }: NewConnectionProps): ReactNode {
  const t = useTranslations('organization');
  return (
    <Dialog
      open={open}
      onClose={onClose}
      place="side"
      title={t('newConnection')}
      lead={t('newConnectionLead')}
    >
      <NewConnectionForm onClose={onClose} onMade={onMade} />
    </Dialog>
  );
}

function NewConnectionForm({ onClose, onMade }: Omit<NewConnectionProps, 'open'>): ReactNode {
  const t = useTranslations('organization');
  const api = useApi();
  const say = useSay();
  const changed = useChanged();
  const [draft, setDraft] = useState(NEW_CONNECTION);
  const make = useMutation({
    mutationFn: async (body: NewConnection) =>
      (await api.POST('/v1/identity/sso-connections', { body })).data,
    onSuccess: async ({ id }) => {
      onMade(id);
      say(t('connectionMade'));
      await changed();
    },
  });
  const send = (event: FormEvent): void => {
    event.preventDefault();
    make.mutate({ ...bodyOf(draft), protocol: 'oidc', client_secret: draft.clientSecret });
  };
  return (
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
  );
}
