import { useParams } from '@tanstack/react-router';
import { useState, type FormEvent, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../../api/api.tsx';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';
import { Failure, Note } from '../../ui/notices.tsx';
import { problemAt } from '../../ui/problem-at.ts';
import { useSay } from '../../ui/toasts.tsx';
import { conflictingOf } from '../conflicting.ts';
import { isConflict, useChange } from '../use-change.ts';
import type { Contact } from '../use-contact.ts';
import { NationalIdFields, NO_NATIONAL_ID, sentNationalId } from './national-id-fields.tsx';

interface EditNationalIdProps {
  contact: Contact;
  etag: string | undefined;
  onClose: () => void;
}

/** Enters a national id, puts another in its place, or takes it away. What there is is not shown: it is read elsewhere. */
export function EditNationalId({ contact, etag, onClose }: EditNationalIdProps): ReactNode {
  const t = useTranslations('contacts');
  const ui = useTranslations('ui');
  const { organization = '' } = useParams({ strict: false });
  const [typed, setTyped] = useState({ ...NO_NATIONAL_ID, ...typeOf(contact) });
  const save = useSaving(contact.id, etag, onClose);
  const taken = conflictingOf(save.error);
  const atField = problemAt(save.error, '/national_id', true) !== undefined;
  const send = (event: FormEvent): void => {
    event.preventDefault();
    save.mutate(sentNationalId(typed).national_id ?? null);
  };
  return (
    <Dialog open onClose={onClose} title={t('nationalId.title')}>
      <form onSubmit={send} className="flex flex-col gap-4">
        <NationalIdFields typed={typed} error={save.error} required onChange={setTyped} />
        {isConflict(save.error) && (
          <Note tone="warn" unsent>
            {t('nationalId.meanwhile')}
          </Note>
        )}
        {save.error !== null && !atField && !isConflict(save.error) && <Failure error={save.error} />}
        {taken !== undefined && (
          <ButtonLink to="/o/$organization/contacts/$contactId" params={{ organization, contactId: taken }}>
            {t('list.openTaken')}
          </ButtonLink>
        )}
        <DialogActions>
          {contact.national_id !== null && (
            <Button look="danger" busy={save.isPending} onClick={() => save.mutate(null)}>
              {t('nationalId.remove')}
            </Button>
          )}
          <Button onClick={onClose}>{ui('cancel')}</Button>
          <Button type="submit" look="main" busy={save.isPending}>
            {t('nationalId.save')}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}

function typeOf({ national_id: known }: Contact): { type?: NonNullable<Contact['national_id']>['type'] } {
  return known === null ? {} : { type: known.type };
}

function useSaving(id: string, etag: string | undefined, onDone: () => void) {
  const t = useTranslations('contacts');
  const api = useApi();
  const say = useSay();
  return useChange(
    id,
    async (national_id: ReturnType<typeof sentNationalId>['national_id'] | null) => {
      const params = { path: { id } };
      const guard = etag === undefined ? {} : { ifMatch: etag };
      await api.PATCH('/v1/core/contacts/{id}', {
        params,
        body: { national_id: national_id ?? null },
        ...guard,
      });
    },
    () => {
      say(t('profile.saved'));
      onDone();
    },
  );
}
