import { Plus } from 'lucide-react';
import { useState, type FormEvent, type ReactNode } from 'react';
import { useFormatter, useTranslations } from 'use-intl';
import { ChooseContact } from '../contacts/merge/choose-contact.tsx';
import { useMay } from '../session/use-session.tsx';
import { Button } from '../ui/button.tsx';
import { Id } from '../ui/details.tsx';
import { Dialog, DialogActions } from '../ui/dialog.tsx';
import { InstantField, TextField } from '../ui/form.tsx';
import { Failure } from '../ui/notices.tsx';
import { problemAt } from '../ui/problem-at.ts';
import { useSay } from '../ui/toasts.tsx';
import { useTransaction } from './use-transaction.ts';

/** Gives points to a contact, or takes some, with a reason. */
export function AdjustPoints({ contactId }: { contactId: string | undefined }): ReactNode {
  const t = useTranslations('loyalty');
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button look="main" onClick={() => setOpen(true)}>
        <Plus aria-hidden className="size-4" />
        {t('adjust')}
      </Button>
      <Dialog open={open} onClose={() => setOpen(false)} title={t('adjust')} lead={t('adjustLead')}>
        <AdjustForm contactId={contactId ?? ''} onDone={() => setOpen(false)} />
      </Dialog>
    </>
  );
}

const NOTHING = { points: '', reason: '', reference: '', expires: '' };

function AdjustForm({ contactId, onDone }: { contactId: string; onDone: () => void }): ReactNode {
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
      <Whose
        contact={draft.contact}
        error={problemAt(adjust.error, '/contact_id')}
        onChange={(contact) => set({ contact })}
      />
      <TextField
        label={t('points')}
        hint={t('pointsHint')}
        type="number"
        step={1}
        required
        value={draft.points}
        error={problemAt(adjust.error, '/points')}
        onChange={({ target }) => set({ points: target.value })}
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

interface WhoseProps {
  contact: string;
  error: string | undefined;
  onChange: (contact: string) => void;
}

/** By name, for who may look for contacts; else by the id. */
function Whose({ contact, error, onChange }: WhoseProps): ReactNode {
  const t = useTranslations('loyalty');
  const may = useMay();
  if (!may('core.contacts.read'))
    return (
      <TextField
        label={t('contactId')}
        required
        value={contact}
        error={error}
        onChange={({ target }) => onChange(target.value.trim())}
      />
    );
  return (
    <fieldset className="flex min-w-0 flex-col gap-1">
      <legend className="mb-1 text-xs font-medium">{t('contact')}</legend>
      {contact === '' ? (
        <ChooseContact except={undefined} onChoose={onChange} />
      ) : (
        <div className="flex flex-wrap items-center gap-2">
          <Id value={contact} />
          <Button look="quiet" onClick={() => onChange('')}>
            {t('another')}
          </Button>
        </div>
      )}
      {error !== undefined && <p className="text-xs text-bad">{error}</p>}
    </fieldset>
  );
}
