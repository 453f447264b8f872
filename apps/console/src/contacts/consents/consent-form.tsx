import { useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../../api/api.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';
import { Select, TextField } from '../../ui/form.tsx';
import { Failure } from '../../ui/notices.tsx';
import { useSay } from '../../ui/toasts.tsx';
import { problemsAt, type Fault } from '../../ui/problem-at.ts';
import { useWords } from '../timeline/words.tsx';
import { useChange } from '../use-change.ts';

const PURPOSES = [
  'marketing',
  'loyalty',
  'profiling',
  'analytics',
  'research',
  'third_party_sharing',
] as const;
const CHANNELS = ['email', 'sms', 'push', 'whatsapp', 'in_app'] as const;
const STATUSES = ['granted', 'denied', 'withdrawn'] as const;
const OWN = 'custom';
const SHOWN = ['/purpose', '/status', '/notice_version', '/method', '/channel'];

const BLANK = { purpose: 'marketing', own: '', channel: '', status: 'granted', method: '', notice: '' };

interface ConsentFormProps {
  contactId: string;
  open: boolean;
  onClose: () => void;
}

/** Records what a contact has said. What is recorded stays: it is taken back by recording a withdrawal. */
export function ConsentForm({ contactId, open, onClose }: ConsentFormProps): ReactNode {
  const t = useTranslations('contacts');
  const ui = useTranslations('ui');
  const [typed, setTyped] = useState(BLANK);
  const record = useRecord(contactId, () => {
    setTyped(BLANK);
    onClose();
  });
  const errors = problemsAt(record.error);
  const isGrant = typed.status === 'granted';
  const atFields = SHOWN.some((pointer) => errors[pointer] !== undefined);
  const set = (name: keyof typeof BLANK) => ({
    value: typed[name],
    onChange: ({ target }: { target: { value: string } }) => setTyped({ ...typed, [name]: target.value }),
  });
  return (
    <Dialog open={open} onClose={onClose} title={t('consents.record')} lead={t('consents.recordLead')}>
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          record.mutate(typed);
        }}
      >
        <Choices set={set} errors={errors} />
        {typed.purpose === OWN && (
          <TextField
            label={t('consents.own')}
            hint={t('consents.ownHint')}
            required
            error={errors['/purpose']}
            {...set('own')}
          />
        )}
        <TextField
          label={t('consents.method')}
          hint={t('consents.methodHint')}
          required={isGrant}
          error={errors['/method']}
          {...set('method')}
        />
        <TextField
          label={t('consents.notice')}
          hint={t('consents.noticeHint')}
          required={isGrant}
          error={errors['/notice_version']}
          {...set('notice')}
        />
        {record.error !== null && !atFields && <Failure error={record.error} />}
        <DialogActions>
          <Button onClick={onClose}>{ui('cancel')}</Button>
          <Button type="submit" look="main" busy={record.isPending}>
            {t('consents.save')}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}

interface ChoicesProps {
  set: (name: 'purpose' | 'channel' | 'status') => {
    value: string;
    onChange: (event: { target: { value: string } }) => void;
  };
  errors: Readonly<Record<string, Fault | undefined>>;
}

function Choices({ set, errors }: ChoicesProps): ReactNode {
  const t = useTranslations('contacts');
  const words = useWords();
  return (
    <>
      <Select
        label={t('consents.purpose')}
        options={[
          ...PURPOSES.map((value) => ({ value, label: words.purpose(value) })),
          { value: OWN, label: t('consents.own') },
        ]}
        {...set('purpose')}
      />
      <Select
        label={t('consents.channel')}
        options={[
          { value: '', label: t('consents.allChannels') },
          ...CHANNELS.map((value) => ({ value, label: words.channel(value) })),
        ]}
        error={errors['/channel']}
        {...set('channel')}
      />
      <Select
        label={t('consents.status')}
        options={STATUSES.map((value) => ({ value, label: words.consent(value) }))}
        error={errors['/status']}
        {...set('status')}
      />
    </>
  );
}

function useRecord(contactId: string, onDone: () => void) {
  const t = useTranslations('contacts');
  const api = useApi();
  const say = useSay();
  return useChange(
    contactId,
    async ({ purpose, own, channel, status, method, notice }: typeof BLANK) => {
      const body = {
        purpose: purpose === OWN ? `custom.${own.trim()}` : purpose,
        channel: CHANNELS.find((each) => each === channel) ?? null,
        status: STATUSES.find((each) => each === status) ?? 'denied',
        method: method.trim() === '' ? null : method.trim(),
        notice_version: notice.trim() === '' ? null : notice.trim(),
      };
      await api.POST('/v1/core/contacts/{id}/consents', { params: { path: { id: contactId } }, body });
    },
    () => {
      say(t('consents.recorded'));
      onDone();
    },
  );
}
