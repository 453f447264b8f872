import { X } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { useLocale, useTranslations } from 'use-intl';
import { useApi } from '../../api/api.tsx';
import { useMay } from '../../session/use-session.tsx';
import { Button, IconButton } from '../../ui/button.tsx';
import { TextField } from '../../ui/form.tsx';
import { Failure } from '../../ui/notices.tsx';
import { useUnderstood } from '../../ui/number-field.tsx';
import { Section } from '../../ui/page.tsx';
import { useSay } from '../../ui/toasts.tsx';
import { useChange } from '../use-change.ts';
import type { Contact } from '../use-contact.ts';
import { asTyped, asValue } from './attribute-value.ts';

/** What the organization keeps of a contact in fields of its own. */
export function Attributes({ contact }: { contact: Contact }): ReactNode {
  const t = useTranslations('contacts');
  const may = useMay();
  const entries = Object.entries(contact.attributes as Record<string, unknown>);
  const editable = may('core.contacts.update') && contact.deleted_at === null;
  return (
    <Section title={t('profile.attributes')}>
      {entries.length === 0 && <p className="text-soft">{t('profile.noAttributes')}</p>}
      {entries.length > 0 && (
        <ul className="flex max-h-96 flex-col divide-y divide-line overflow-y-auto rounded-panel border border-line">
          {entries.map(([key, value]) => (
            <li key={key}>
              <Attribute contactId={contact.id} name={key} value={value} editable={editable} />
            </li>
          ))}
        </ul>
      )}
      {editable && <Add contactId={contact.id} />}
    </Section>
  );
}

interface AttributeProps {
  contactId: string;
  name: string;
  value: unknown;
  editable: boolean;
}

function Attribute({ contactId, name, value, editable }: AttributeProps): ReactNode {
  const t = useTranslations('contacts');
  const say = useSay();
  const locale = useLocale();
  const back = useSet(contactId);
  const remove = useSet(contactId, () =>
    say(t('profile.taken', { name }), () => back.mutateAsync({ name, value })),
  );
  const error = remove.error ?? back.error;
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-1 py-1.5 pr-1 pl-3">
      <code className="w-28 shrink-0 font-mono text-xs text-soft">{name}</code>
      <span dir="auto" className="min-w-0 grow basis-32">
        {asTyped(value, locale)}
      </span>
      {editable && (
        <IconButton
          label={t('profile.take', { name })}
          busy={remove.isPending}
          onClick={() => remove.mutate({ name, value: null })}
        >
          <X aria-hidden className="size-4" />
        </IconButton>
      )}
      {error !== null && (
        <div className="basis-full">
          <Failure error={error} />
        </div>
      )}
    </div>
  );
}

function Add({ contactId }: { contactId: string }): ReactNode {
  const t = useTranslations('contacts');
  const say = useSay();
  const [name, setName] = useState('');
  const [typed, setTyped] = useState('');
  const locale = useLocale();
  const understood = useUnderstood();
  const value = asValue(typed, locale);
  const said = typeof value === 'number' ? understood(typed, String(value)) : undefined;
  const set = useSet(contactId, () => {
    setName('');
    setTyped('');
    say(t('profile.set'));
  });
  return (
    <form
      className="flex flex-col gap-3"
      onSubmit={(event) => {
        event.preventDefault();
        set.mutate({ name: name.trim(), value });
      }}
    >
      <div className="flex flex-wrap items-start gap-3">
        <div className="min-w-0 grow basis-32">
          <TextField
            label={t('profile.name')}
            required
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
        </div>
        <div className="min-w-0 grow basis-48">
          <TextField
            label={t('profile.value')}
            hint={said ?? t('profile.valueHint')}
            required
            value={typed}
            onChange={(event) => setTyped(event.target.value)}
          />
        </div>
        <Button type="submit" busy={set.isPending} className="mt-5.5">
          {t('profile.put')}
        </Button>
      </div>
      {set.error !== null && <Failure error={set.error} />}
    </form>
  );
}

/** Sets one attribute and leaves the others; null takes it away. */
function useSet(contactId: string, onDone?: () => void) {
  const api = useApi();
  return useChange(
    contactId,
    async ({ name, value }: { name: string; value: unknown }) => {
      // Its keys are the organization's, which no type names.
      const attributes = { [name]: value } as Record<string, never>;
      await api.PATCH('/v1/core/contacts/{id}', {
        params: { path: { id: contactId } },
        body: { attributes },
      });
    },
    onDone,
  );
}
