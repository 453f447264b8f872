import { useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { Button } from '../ui/button.tsx';
import { DialogActions } from '../ui/dialog.tsx';
import { TextField } from '../ui/form.tsx';
import { Failure, Note } from '../ui/notices.tsx';
import { problemAt, problemsAt } from '../ui/problem-at.ts';
import {
  byField,
  CONTACT_FIELD_NAMES,
  CONTACT_FIELDS,
  isHinted,
  type ContactField,
} from '../people/contact-fields.ts';
import type { Contact } from './use-contact.ts';

/** As they stand in the form: nothing is an empty text. */
export type ContactFields = Record<ContactField, string>;

export function fieldsOf(contact?: Contact): ContactFields {
  return byField((field) => contact?.[field] ?? '');
}

/** What was typed that is not so already; an emptied field becomes null. */
export function changedFields(
  typed: ContactFields,
  contact?: Contact,
): Partial<Record<ContactField, string | null>> {
  const was = fieldsOf(contact);
  return Object.fromEntries(
    CONTACT_FIELD_NAMES.map((field) => [field, typed[field].trim()] as const)
      .filter(([field, value]) => value !== was[field])
      .map(([field, value]) => [field, value === '' ? null : value]),
  );
}

interface ContactFormProps {
  contact?: Contact;
  action: string;
  busy: boolean;
  error: unknown;
  /** What somebody else has changed since the form was opened. */
  meanwhile?: Partial<Record<string, string | null>> | undefined;
  onTakeTheirs?: () => void;
  onSubmit: (typed: ContactFields) => void;
  onCancel: () => void;
  /** Fields of another kind below these, and where the platform's word on them stands. */
  further?: { at: string; fields: ReactNode };
}

/** A contact's fields; what the platform finds wrong stands at each. */
export function ContactForm(props: ContactFormProps): ReactNode {
  const { contact, action, busy, error, meanwhile, onTakeTheirs, onSubmit, onCancel, further } = props;
  const t = useTranslations('contacts');
  const ui = useTranslations('ui');
  const [typed, setTyped] = useState(() => fieldsOf(contact));
  const errors = problemsAt(error);
  const atFields =
    CONTACT_FIELD_NAMES.some((field) => errors[`/${field}`] !== undefined) ||
    (further !== undefined && problemAt(error, further.at, true) !== undefined);
  // It is set once, so what stands there cannot be written over.
  const fixed = contact?.external_id != null;
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit(typed);
      }}
    >
      {meanwhile !== undefined && <Meanwhile changed={meanwhile} onTakeTheirs={onTakeTheirs} />}
      <div className="grid gap-4 sm:grid-cols-2">
        {CONTACT_FIELD_NAMES.map((field) => (
          <TextField
            key={field}
            label={t(`fields.${field}`)}
            type={CONTACT_FIELDS[field].input}
            hint={isHinted(field) ? t(`hints.${field}`) : undefined}
            value={typed[field]}
            readOnly={field === 'external_id' && fixed}
            error={errors[`/${field}`]}
            onChange={({ target }) => setTyped({ ...typed, [field]: target.value })}
          />
        ))}
      </div>
      {further?.fields}
      {error != null && !atFields && <Failure error={error} />}
      <DialogActions>
        <Button onClick={onCancel}>{ui('cancel')}</Button>
        <Button type="submit" look="main" busy={busy}>
          {action}
        </Button>
      </DialogActions>
    </form>
  );
}

interface MeanwhileProps {
  changed: Partial<Record<string, string | null>>;
  onTakeTheirs: (() => void) | undefined;
}

function Meanwhile({ changed, onTakeTheirs }: MeanwhileProps): ReactNode {
  const t = useTranslations('contacts');
  return (
    <Note tone="warn" unsent>
      <p>{t('profile.conflict')}</p>
      <ul className="my-2">
        {Object.entries(changed).map(([field, value]) => (
          <li key={field}>
            {t(`fields.${field as ContactField}`)}: <strong>{value ?? '–'}</strong>
          </li>
        ))}
      </ul>
      <Button onClick={onTakeTheirs}>{t('takeTheirs')}</Button>
    </Note>
  );
}
