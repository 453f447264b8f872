import type { BodyOf } from '@customer-platform/client';
import { useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../../api/api.tsx';
import { useMay } from '../../session/use-session.tsx';
import { Button } from '../../ui/button.tsx';
import { Detail, Details, Id } from '../../ui/details.tsx';
import { Section } from '../../ui/page.tsx';
import { useReadAnew } from '../../ui/queries.ts';
import { Time } from '../../ui/time.tsx';
import { useSay } from '../../ui/toasts.tsx';
import { CONTACT_FIELD_NAMES } from '../../people/contact-fields.ts';
import { changedFields, ContactForm, fieldsOf, type ContactFields } from '../contact-form.tsx';
import { NationalId } from '../national-id/national-id.tsx';
import { isConflict, useChange } from '../use-change.ts';
import type { Contact } from '../use-contact.ts';

interface ProfileFieldsProps {
  contact: Contact;
  etag: string | undefined;
}

/** A contact's own fields, to read and to change. */
export function ProfileFields({ contact, etag }: ProfileFieldsProps): ReactNode {
  const t = useTranslations('contacts');
  const may = useMay();
  const [editing, setEditing] = useState(false);
  const mayEdit = may('core.contacts.update') && contact.deleted_at === null;
  return (
    <Section
      title={t('profile.title')}
      actions={mayEdit && !editing && <Button onClick={() => setEditing(true)}>{t('profile.edit')}</Button>}
    >
      {editing ? (
        <Edit contact={contact} etag={etag} onDone={() => setEditing(false)} />
      ) : (
        <Read contact={contact} etag={etag} />
      )}
    </Section>
  );
}

function Read({ contact, etag }: ProfileFieldsProps): ReactNode {
  const t = useTranslations('contacts');
  return (
    <Details>
      {CONTACT_FIELD_NAMES.map((field) => (
        <Detail key={field} name={t(`fields.${field}`)}>
          <span dir="auto">{contact[field] ?? '–'}</span>
        </Detail>
      ))}
      <Detail name={t('fields.national_id')}>
        <NationalId contact={contact} etag={etag} />
      </Detail>
      <Detail name={t('fields.source')}>{contact.source}</Detail>
      <Detail name={t('fields.created_at')}>
        <Time at={contact.created_at} />
      </Detail>
      <Detail name={t('fields.updated_at')}>
        <Time at={contact.updated_at} />
      </Detail>
      <Detail name={t('fields.id')}>
        <Id value={contact.id} />
      </Detail>
    </Details>
  );
}

interface EditProps extends ProfileFieldsProps {
  onDone: () => void;
}

/** The change is of what was read; what somebody else changed meanwhile is shown before it is written over. */
function Edit({ contact, etag, onDone }: EditProps): ReactNode {
  const t = useTranslations('contacts');
  const say = useSay();
  const api = useApi();
  const readAnew = useReadAnew('contacts', contact.id, 'profile');
  const [base, setBase] = useState({ contact, etag });
  const [theirs, setTheirs] = useState<{ contact: Contact; etag: string | undefined }>();
  const params = { path: { id: contact.id } };
  const save = useChange(
    contact.id,
    async (typed: ContactFields) => {
      const body: BodyOf<'patch', '/v1/core/contacts/{id}'> = changedFields(typed, base.contact);
      const from = theirs ?? base;
      try {
        await api.PATCH('/v1/core/contacts/{id}', {
          params,
          body,
          ...(from.etag === undefined ? {} : { ifMatch: from.etag }),
        });
      } catch (error) {
        if (isConflict(error)) {
          const { data, etag: now } = await api.GET('/v1/core/contacts/{id}', { params });
          setTheirs({ contact: data, etag: now });
        }
        throw error;
      }
    },
    () => {
      say(t('profile.saved'));
      onDone();
    },
  );
  const takeTheirs = (): void => {
    if (theirs === undefined) return;
    setBase(theirs);
    setTheirs(undefined);
    save.reset();
    void readAnew();
  };
  const changed = theirs === undefined ? {} : changedFields(fieldsOf(theirs.contact), base.contact);
  return (
    <ContactForm
      key={base.contact.version}
      contact={base.contact}
      action={theirs === undefined ? t('profile.save') : t('keepMine')}
      busy={save.isPending}
      error={isConflict(save.error) ? null : save.error}
      meanwhile={theirs === undefined ? undefined : changed}
      onTakeTheirs={takeTheirs}
      onSubmit={(typed) => save.mutate(typed)}
      onCancel={onDone}
    />
  );
}
