import { useState, type FormEvent, type ReactNode } from 'react';
import { useFormatter, useTranslations } from 'use-intl';
import { ContactPicker } from '../contact-picker.tsx';
import { Button } from '../../ui/button.tsx';
import { DialogActions } from '../../ui/dialog.tsx';
import { InstantField, TextField } from '../../ui/form.tsx';
import { Failure } from '../../ui/notices.tsx';
import { NumberField } from '../../ui/number-field.tsx';
import { problemAt } from '../../ui/problem-at.ts';
import { useSay } from '../../ui/toasts.tsx';
import { useTransaction } from './use-transaction.ts';

const NOTHING = { points: '', reason: '', reference: '', expires: '' };

interface AdjustFormProps {
  /** The contact whose points they are, where that is known already; else empty. */
  contactId: string;
  onDone: () => void;
}

/** Gives points to a contact, or takes some, with a reason. */
export function AdjustForm({ contactId, onDone }: AdjustFormProps): ReactNode {
  const t = useTranslations('loyalty');
  const say = useSay();
  const { number } = useFormatter();
  const [draft, setDraft] = useState({ ...NOTHING, contact: contactId });
  const adjust = useTransaction((points) => {
    say(t('adjusted', { points: number(points, { signDisplay: 'exceptZero' }) }));
    onDone();
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const { contact, points, reason, reference, expires } = draft;
    adjust.mutate({
      kind: 'adjust',
      contact_id: contact,
      points: Number(points),
      reason,
      ...(reference !== '' && { reference }),
      ...(expires !== '' && Number(points) > 0 && { expires_at: expires }),
    });
  };
  const set = (changed: Partial<typeof draft>): void => setDraft({ ...draft, ...changed });
  return (
    <form onSubmit={submit} className="flex flex-col gap-4">
      <ContactPicker
        contact={draft.contact}
        error={problemAt(adjust.error, '/contact_id')}
        onChange={(contact) => set({ contact })}
      />
      <NumberField
        label={t('points')}
        hint={t('pointsHint')}
        required
        value={draft.points}
        error={problemAt(adjust.error, '/points')}
        onChange={(points) => set({ points })}
      />
      <TextField
        label={t('reason')}
        required
        maxLength={500}
        value={draft.reason}
        error={problemAt(adjust.error, '/reason')}
        onChange={({ target }) => set({ reason: target.value })}
      />
      <TextField
        label={t('reference')}
        hint={t('referenceHint')}
        maxLength={100}
        value={draft.reference}
        error={problemAt(adjust.error, '/reference')}
        onChange={({ target }) => set({ reference: target.value })}
      />
      {Number(draft.points) > 0 && (
        <InstantField
          label={t('expires')}
          hint={t('expiresHint')}
          value={draft.expires}
          error={problemAt(adjust.error, '/expires_at')}
          onChange={(expires) => set({ expires })}
        />
      )}
      {adjust.error !== null && <Failure error={adjust.error} />}
      <DialogActions>
        <Button type="submit" look="main" busy={adjust.isPending} disabled={draft.contact === ''}>
          {t('adjust')}
        </Button>
      </DialogActions>
    </form>
  );
}
