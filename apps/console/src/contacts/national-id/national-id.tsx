import { Eye, Pencil } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../../api/api.tsx';
import { useMay } from '../../session/use-session.tsx';
import { Button } from '../../ui/button.tsx';
import { Failure } from '../../ui/notices.tsx';
import { lazyPart } from '../../ui/lazy-part.tsx';
import { useChange } from '../use-change.ts';
import type { Contact } from '../use-contact.ts';

const EditNationalId = lazyPart(async () => (await import('./edit-national-id.tsx')).EditNationalId);

interface NationalIdProps {
  contact: Contact;
  etag: string | undefined;
}

/** Masked; who may see it whole asks for it, which is written in the audit log. Who may change the contact enters it. */
export function NationalId({ contact, etag }: NationalIdProps): ReactNode {
  const { id, national_id, deleted_at } = contact;
  const t = useTranslations('contacts');
  const may = useMay();
  const api = useApi();
  const [editing, setEditing] = useState(false);
  const read = useChange(id, async () => {
    const { data } = await api.GET('/v1/core/contacts/{id}/national-id', { params: { path: { id } } });
    return data.value;
  });
  const mayRead = may('core.contacts.read_national_id') && national_id !== null && read.data === undefined;
  const mayEdit = may('core.contacts.update') && deleted_at === null;
  return (
    <span className="flex flex-wrap items-center gap-2">
      {national_id === null ? (
        '–'
      ) : (
        <span>
          {t(`nationalId.types.${national_id.type}`)}{' '}
          <span className="tabular-nums">{read.data ?? national_id.masked}</span>
        </span>
      )}
      {mayRead && (
        <Button look="quiet" busy={read.isPending} onClick={() => read.mutate()} title={t('profile.audited')}>
          <Eye aria-hidden className="size-4" />
          {t('profile.reveal')}
        </Button>
      )}
      {mayEdit && (
        <Button look="quiet" onClick={() => setEditing(true)}>
          <Pencil aria-hidden className="size-4" />
          {t(national_id === null ? 'nationalId.add' : 'nationalId.change')}
        </Button>
      )}
      {read.error !== null && <Failure error={read.error} />}
      {editing && (
        <EditNationalId
          contact={contact}
          etag={etag}
          onClose={() => {
            setEditing(false);
            read.reset();
          }}
        />
      )}
    </span>
  );
}
