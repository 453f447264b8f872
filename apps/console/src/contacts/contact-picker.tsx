import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { ContactName } from '../people/person.tsx';
import { useMay } from '../session/use-session.tsx';
import { Button } from '../ui/button.tsx';
import { TextField } from '../ui/form.tsx';
import { ChooseContact } from '../people/choose-contact.tsx';
import type { Fault } from '../ui/problem-at.ts';
import { FaultText } from '../ui/problem-words.tsx';

interface ContactPickerProps {
  /** The id; empty before one is chosen. */
  contact: string;
  error: Fault | undefined;
  onChange: (contact: string) => void;
}

/** Which contact a form is about: by name, for who may look for contacts; else by the id. */
export function ContactPicker({ contact, error, onChange }: ContactPickerProps): ReactNode {
  const t = useTranslations('contacts');
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
          <ContactName id={contact} plain withAddress />
          <Button look="quiet" onClick={() => onChange('')}>
            {t('another')}
          </Button>
        </div>
      )}
      {error !== undefined && (
        <p className="text-xs text-bad">
          <FaultText fault={error} />
        </p>
      )}
    </fieldset>
  );
}
