import { useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../../api/api.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';
import { Select, TextArea, TextField } from '../../ui/form.tsx';
import { Failure } from '../../ui/notices.tsx';
import { useSay } from '../../ui/toasts.tsx';
import { problemsAt } from '../../ui/problem-at.ts';
import { useChange } from '../use-change.ts';
import type { ActivityType } from './activity.ts';

interface ActivityFormProps {
  contactId: string;
  types: readonly ActivityType[];
  open: boolean;
  onClose: () => void;
}

const BLANK = { type: '', subject: '', description: '', due: '' };
const SHOWN = ['/type_id', '/subject', '/description', '/due_at'];
const LONGEST_SUBJECT = 200;

/** Plans an activity with a contact. */
export function ActivityForm({ contactId, types, open, onClose }: ActivityFormProps): ReactNode {
  const t = useTranslations('contacts');
  const ui = useTranslations('ui');
  const api = useApi();
  const say = useSay();
  const [typed, setTyped] = useState(BLANK);
  const plan = useChange(
    contactId,
    async () => {
      const { type, subject, description, due } = typed;
      const body = {
        contact_id: contactId,
        type_id: type === '' ? (types[0]?.id ?? '') : type,
        subject,
        ...(description.trim() === '' ? {} : { description }),
        ...(due === '' ? {} : { due_at: new Date(due).toISOString() }),
      };
      await api.POST('/v1/crm/activities', { body });
    },
    () => {
      setTyped(BLANK);
      say(t('activities.planned'));
      onClose();
    },
  );
  const errors = problemsAt(plan.error);
  const set = (name: keyof typeof BLANK) => ({
    value: typed[name],
    onChange: ({ target }: { target: { value: string } }) => setTyped({ ...typed, [name]: target.value }),
  });
  return (
    <Dialog open={open} onClose={onClose} title={t('activities.plan')}>
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          plan.mutate();
        }}
      >
        <Select
          label={t('activities.type')}
          options={types.map(({ id: value, name: label }) => ({ value, label }))}
          error={errors['/type_id']}
          {...set('type')}
        />
        <TextField
          label={t('activities.subject')}
          required
          maxLength={LONGEST_SUBJECT}
          error={errors['/subject']}
          {...set('subject')}
        />
        <TextArea
          label={t('activities.description')}
          error={errors['/description']}
          {...set('description')}
        />
        <TextField
          label={t('activities.due')}
          type="datetime-local"
          error={errors['/due_at']}
          {...set('due')}
        />
        {plan.error !== null && !SHOWN.some((each) => errors[each] !== undefined) && (
          <Failure error={plan.error} />
        )}
        <DialogActions>
          <Button onClick={onClose}>{ui('cancel')}</Button>
          <Button type="submit" look="main" busy={plan.isPending}>
            {t('activities.plan')}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
