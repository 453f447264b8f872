import type { BodyOf } from '@customer-platform/client';
import { useMutation } from '@tanstack/react-query';
import { useState, type FormEvent, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { Button } from '../ui/button.tsx';
import { Dialog, DialogActions } from '../ui/dialog.tsx';
import { Checkbox, TextField } from '../ui/form.tsx';
import { useSay } from '../ui/toasts.tsx';
import { problemAt } from '../ui/problem-at.ts';
import { Refused } from './refused.tsx';
import { slugOf } from './slug.ts';
import { useChanged } from './use-acts.tsx';

interface NewChildProps {
  onClose: () => void;
  /** Shows its first key; null is one that was lost on the way. */
  onKey: (key: string | null) => void;
}

/** A new organization below this one, with a first key if it is wanted. */
export function NewChild({ onClose, onKey }: NewChildProps): ReactNode {
  const t = useTranslations('organization');
  const say = useSay();
  const changed = useChanged();
  const api = useApi();
  const found = useMutation({
    mutationFn: async (body: BodyOf<'post', '/v1/identity/organizations'>) =>
      (await api.POST('/v1/identity/organizations', { body })).data,
    onSuccess: async ({ api_key: made }, { issue_api_key: wanted }) => {
      if (wanted) onKey(made?.key ?? null);
      say(t('childMade'));
      onClose();
      await changed();
    },
  });
  return (
    <Dialog open onClose={onClose} title={t('newChild')} lead={t('newChildLead')}>
      <ChildForm busy={found.isPending} error={found.error} onSend={found.mutate} onCancel={onClose} />
    </Dialog>
  );
}

interface ChildFormProps {
  busy: boolean;
  error: unknown;
  onSend: (body: BodyOf<'post', '/v1/identity/organizations'>) => void;
  onCancel: () => void;
}

function ChildForm({ busy, error, onSend, onCancel }: ChildFormProps): ReactNode {
  const t = useTranslations('organization');
  const [name, setName] = useState('');
  const [slug, setSlug] = useState<string>();
  const [withKey, setWithKey] = useState(false);
  const shownSlug = slug ?? slugOf(name);
  const send = (event: FormEvent): void => {
    event.preventDefault();
    onSend({ name: name.trim(), slug: shownSlug, issue_api_key: withKey });
  };
  return (
    <form onSubmit={send} className="flex flex-col gap-4">
      <TextField
        label={t('name')}
        required
        maxLength={80}
        value={name}
        error={problemAt(error, '/name')}
        onChange={(event) => setName(event.target.value)}
      />
      <TextField
        label={t('slug')}
        hint={t('slugHint')}
        required
        pattern="[a-z0-9\-]{3,63}"
        value={shownSlug}
        error={problemAt(error, '/slug')}
        onChange={(event) => setSlug(event.target.value)}
      />
      <Checkbox
        label={t('withKey')}
        checked={withKey}
        onChange={(event) => setWithKey(event.target.checked)}
      />
      <Refused error={error} />
      <DialogActions>
        <Button onClick={onCancel}>{t('cancel')}</Button>
        <Button type="submit" look="main" busy={busy}>
          {t('newChild')}
        </Button>
      </DialogActions>
    </form>
  );
}
