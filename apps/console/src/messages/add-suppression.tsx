import { useMutation } from '@tanstack/react-query';
import { Plus } from 'lucide-react';
import { useState, type FormEvent, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { Button } from '../ui/button.tsx';
import { Dialog, DialogActions } from '../ui/dialog.tsx';
import { Select, TextArea, TextField } from '../ui/form.tsx';
import { Failure } from '../ui/notices.tsx';
import { useReadAnew } from '../ui/queries.ts';
import { useSay } from '../ui/toasts.tsx';
import { CHANNELS, SUPPRESSION_REASONS, type Channel } from './vocabulary.ts';
import { problemAt } from '../ui/problem-at.ts';

interface Draft {
  channel: Channel;
  scope: 'address' | 'domain';
  address: string;
  reason: (typeof SUPPRESSION_REASONS)[number];
  note: string;
}

const NOTHING: Draft = { channel: 'email', scope: 'address', address: '', reason: 'manual', note: '' };

/** Keeps everything of a channel from an address, or from a mail domain. */
export function AddSuppression(): ReactNode {
  const t = useTranslations('messages');
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button look="main" onClick={() => setOpen(true)}>
        <Plus aria-hidden className="size-4" />
        {t('suppress')}
      </Button>
      <Dialog open={open} onClose={() => setOpen(false)} title={t('suppress')} lead={t('suppressLead')}>
        <SuppressionForm onDone={() => setOpen(false)} />
      </Dialog>
    </>
  );
}

function SuppressionForm({ onDone }: { onDone: () => void }): ReactNode {
  const t = useTranslations('messages');
  const [draft, setDraft] = useState(NOTHING);
  const add = useAdd(onDone);
  const wrong = problemAt(add.error, '/address');
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    add.mutate(draft);
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-4">
      <Select
        label={t('channel')}
        value={draft.channel}
        options={CHANNELS.map((value) => ({ value, label: t(`channels.${value}`) }))}
        onChange={({ target }) => setDraft({ ...draft, channel: target.value as Channel, scope: 'address' })}
      />
      {draft.channel === 'email' && (
        <Select
          label={t('scope')}
          value={draft.scope}
          options={(['address', 'domain'] as const).map((value) => ({ value, label: t(`scopes.${value}`) }))}
          onChange={({ target }) => setDraft({ ...draft, scope: target.value as Draft['scope'] })}
        />
      )}
      <TextField
        label={t(`scopes.${draft.scope}`)}
        required
        value={draft.address}
        error={wrong}
        onChange={({ target }) => setDraft({ ...draft, address: target.value })}
      />
      <Select
        label={t('reason')}
        value={draft.reason}
        options={SUPPRESSION_REASONS.map((value) => ({ value, label: t(`suppressionReasons.${value}`) }))}
        onChange={({ target }) => setDraft({ ...draft, reason: target.value as Draft['reason'] })}
      />
      <TextArea
        label={t('note')}
        rows={2}
        value={draft.note}
        onChange={({ target }) => setDraft({ ...draft, note: target.value })}
      />
      {add.error !== null && <Failure error={add.error} />}
      <DialogActions>
        <Button type="submit" look="main" busy={add.isPending}>
          {t('suppress')}
        </Button>
      </DialogActions>
    </form>
  );
}

function useAdd(onDone: () => void) {
  const t = useTranslations('messages');
  const api = useApi();
  const changed = useReadAnew('messages', 'suppressions');
  const say = useSay();
  return useMutation({
    mutationFn: async ({ note, address, ...draft }: Draft) => {
      const body = { ...draft, address: address.trim(), ...(note === '' ? {} : { note }) };
      return (await api.POST('/v1/messaging/suppressions', { body })).data;
    },
    onSuccess: async (_, { address }) => {
      await changed();
      say(t('suppressedSaid', { address }));
      onDone();
    },
  });
}
