import { useState, type FormEvent, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { Button } from '../../ui/button.tsx';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/form.tsx';
import { Failure } from '../../ui/notices.tsx';
import { problemAt } from '../../ui/problem-at.ts';
import { useWords } from '../timeline/words.tsx';
import { useTopicNames } from './use-topic-names.ts';
import { useWish, type Choice } from './use-preferences.ts';

interface LiftObjectionProps {
  contactId: string;
  etag: string | undefined;
  choice: Choice;
  onClose: () => void;
}

/** Asks why something that the person has declined is to be sent again; the reason goes into the audit log. */
export function LiftObjection({ contactId, etag, choice, onClose }: LiftObjectionProps): ReactNode {
  const t = useTranslations('contacts');
  const ui = useTranslations('ui');
  const words = useWords();
  const named = useTopicNames();
  const [reason, setReason] = useState('');
  const wish = useWish(contactId, etag, onClose);
  const fault = problemAt(wish.error, '/reason');
  const what = choice.topic === null ? t('preferences.marketing') : named(choice.topic);
  const send = (event: FormEvent): void => {
    event.preventDefault();
    wish.mutate({ ...choice, reason: reason.trim() });
  };
  return (
    <Dialog
      open
      onClose={onClose}
      title={t('preferences.liftTitle', { what, channel: words.channel(choice.channel) })}
      lead={t('preferences.liftLead')}
    >
      <form onSubmit={send} className="flex flex-col gap-4">
        <TextField
          label={t('preferences.reason')}
          hint={t('preferences.reasonHint')}
          required
          pattern=".*\S.*"
          maxLength={500}
          value={reason}
          error={fault}
          onChange={({ target }) => setReason(target.value)}
        />
        {wish.error !== null && fault === undefined && <Failure error={wish.error} />}
        <DialogActions>
          <Button onClick={onClose}>{ui('cancel')}</Button>
          <Button type="submit" look="main" busy={wish.isPending}>
            {t('preferences.lift')}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
