import { useMutation } from '@tanstack/react-query';
import { useState, type FormEvent, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { Button } from '../ui/button.tsx';
import { Dialog, DialogActions } from '../ui/dialog.tsx';
import { Select, TextField } from '../ui/form.tsx';
import { Note } from '../ui/notices.tsx';
import { useSay } from '../ui/toasts.tsx';
import { problemAt } from '../ui/problem-at.ts';
import { useRoles } from './people.ts';
import { Refused } from './refused.tsx';
import { RolePicker } from './role-picker.tsx';
import { useChanged } from './use-acts.tsx';

const DAY_S = 86_400;
const DAYS = [1, 7, 30] as const;
/** The language of the mail; without one it is the organization's. */
const LOCALES = ['es', 'en'] as const;

export function InviteDialog({ onClose }: { onClose: () => void }): ReactNode {
  const t = useTranslations('organization');
  const roles = useRoles();
  const [email, setEmail] = useState('');
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const [locale, setLocale] = useState('');
  const [days, setDays] = useState(7);
  const invite = useInviting(onClose);
  const send = (event: FormEvent): void => {
    event.preventDefault();
    invite.mutate({
      email: email.trim(),
      role_ids: [...chosen],
      locale: locale === '' ? null : locale,
      expires_in: days * DAY_S,
    });
  };
  return (
    <Dialog open onClose={onClose} title={t('invite')} lead={t('inviteLead')}>
      <form onSubmit={send} className="flex flex-col gap-4">
        <TextField
          label={t('email')}
          type="email"
          required
          maxLength={254}
          value={email}
          error={problemAt(invite.error, '/email')}
          onChange={(event) => setEmail(event.target.value)}
        />
        <RolePicker
          label={t('parts.roles')}
          roles={roles.filter(({ kind }) => kind === 'human')}
          chosen={chosen}
          onChange={setChosen}
        />
        {chosen.length === 0 && <Note tone="warn">{t('noRolesLead')}</Note>}
        <div className="grid gap-4 sm:grid-cols-2">
          <Select
            label={t('mailLanguage')}
            value={locale}
            options={[
              { value: '', label: t('asOrganization') },
              ...LOCALES.map((value) => ({ value, label: t(`languages.${value}`) })),
            ]}
            onChange={(event) => setLocale(event.target.value)}
          />
          <Select
            label={t('validFor')}
            value={days}
            options={DAYS.map((count) => ({ value: String(count), label: t('days', { count }) }))}
            onChange={(event) => setDays(Number(event.target.value))}
          />
        </div>
        <Refused error={invite.error} />
        <DialogActions>
          <Button onClick={onClose}>{t('cancel')}</Button>
          <Button type="submit" look="main" busy={invite.isPending}>
            {t('sendInvitation')}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}

interface Invited {
  email: string;
  role_ids: string[];
  locale: string | null;
  expires_in: number;
}

function useInviting(onDone: () => void) {
  const t = useTranslations('organization');
  const api = useApi();
  const changed = useChanged();
  const say = useSay();
  return useMutation({
    mutationFn: (body: Invited) => api.POST('/v1/identity/invitations', { body }),
    onSuccess: async (_, { email }) => {
      say(t('invited', { email }));
      onDone();
      await changed();
    },
  });
}
