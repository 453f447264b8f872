import type { BodyOf } from '@customer-platform/client';
import { useMutation } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../../api/api.tsx';
import { usePerson } from '../../session/use-session.tsx';
import { ButtonLink } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { useReadAnew } from '../../ui/queries.ts';
import { useSay } from '../../ui/toasts.tsx';
import { conflictingOf } from '../conflicting.ts';
import { changedFields, ContactForm } from '../contact-form.tsx';
import { NationalIdFields, NO_NATIONAL_ID, sentNationalId } from '../national-id/national-id-fields.tsx';

const FROM = '/o/$organization/contacts' as const;

/** A new contact by hand; one identifier at least. */
export function CreateContact({ onClose }: { onClose: () => void }): ReactNode {
  const t = useTranslations('contacts');
  const { organization } = useParams({ from: FROM });
  const create = useCreate();
  const [nationalId, setNationalId] = useState(NO_NATIONAL_ID);
  const taken = conflictingOf(create.error);
  return (
    <Dialog open onClose={onClose} title={t('list.create')} lead={t('list.createLead')}>
      <ContactForm
        action={t('list.create')}
        busy={create.isPending}
        error={create.error}
        onSubmit={(typed) => create.mutate({ ...changedFields(typed), ...sentNationalId(nationalId) })}
        onCancel={onClose}
        further={{
          at: '/national_id',
          fields: <NationalIdFields typed={nationalId} error={create.error} onChange={setNationalId} />,
        }}
      />
      {taken !== undefined && (
        <ButtonLink to="/o/$organization/contacts/$contactId" params={{ organization, contactId: taken }}>
          {t('list.openTaken')}
        </ButtonLink>
      )}
    </Dialog>
  );
}

function useCreate() {
  const t = useTranslations('contacts');
  const api = useApi();
  const say = useSay();
  const changed = useReadAnew('contacts', 'list');
  const navigate = useNavigate();
  const { organization } = usePerson();
  return useMutation({
    mutationFn: async (body: BodyOf<'post', '/v1/core/contacts'>) => {
      const { data } = await api.POST('/v1/core/contacts', { body });
      return data;
    },
    onSuccess: async ({ id: contactId }) => {
      say(t('list.created'));
      await changed();
      await navigate({
        to: '/o/$organization/contacts/$contactId',
        params: { organization: organization.slug, contactId },
      });
    },
  });
}
