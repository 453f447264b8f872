import { Pencil, Pin, PinOff, Trash2 } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../../api/api.tsx';
import { Actor } from '../../people/person.tsx';
import { useMay } from '../../session/use-session.tsx';
import { Badge } from '../../ui/badge.tsx';
import { IconButton } from '../../ui/button.tsx';
import { Failure } from '../../ui/notices.tsx';
import { Time } from '../../ui/time.tsx';
import { useChange } from '../use-change.ts';
import { EditNote } from './edit-note.tsx';
import { useDeleteNote, type Note } from './use-notes.ts';

/** One note, with what one may do with it. */
export function NoteCard({ note, contactId }: { note: Note; contactId: string }): ReactNode {
  const t = useTranslations('contacts');
  const [editing, setEditing] = useState(false);
  const { id, author, body, pinned, created_at, updated_at } = note;
  return (
    <article className="flex flex-col gap-2 rounded-panel border border-line p-4">
      {editing ? (
        <EditNote id={id} contactId={contactId} onDone={() => setEditing(false)} />
      ) : (
        <p dir="auto" className="whitespace-pre-wrap">
          {body}
        </p>
      )}
      <footer className="flex flex-wrap items-center gap-x-3 text-xs text-soft">
        {pinned && <Badge tone="accent">{t('notes.pinned')}</Badge>}
        <Actor {...author} />
        <Time at={created_at} />
        {updated_at !== created_at && <span>{t('notes.changed')}</span>}
        <span className="grow" />
        {!editing && (
          <Actions id={id} pinned={pinned} contactId={contactId} onEdit={() => setEditing(true)} />
        )}
      </footer>
    </article>
  );
}

interface ActionsProps {
  id: string;
  pinned: boolean;
  contactId: string;
  onEdit: () => void;
}

function Actions({ id, pinned, contactId, onEdit }: ActionsProps): ReactNode {
  const t = useTranslations('contacts');
  const may = useMay();
  const api = useApi();
  const remove = useDeleteNote(contactId);
  const pin = useChange(contactId, async () => {
    await api.PATCH('/v1/crm/notes/{id}', { params: { path: { id } }, body: { pinned: !pinned } });
  });
  const PinIcon = pinned ? PinOff : Pin;
  const error = pin.error ?? remove.error;
  return (
    <>
      {may('crm.notes.update') && (
        <>
          <IconButton label={pinned ? t('notes.unpin') : t('notes.pin')} onClick={() => pin.mutate()}>
            <PinIcon aria-hidden className="size-4" />
          </IconButton>
          <IconButton label={t('notes.edit')} onClick={onEdit}>
            <Pencil aria-hidden className="size-4" />
          </IconButton>
        </>
      )}
      {may('crm.notes.delete') && (
        <IconButton label={t('notes.delete')} busy={remove.isPending} onClick={() => remove.mutate(id)}>
          <Trash2 aria-hidden className="size-4" />
        </IconButton>
      )}
      {error !== null && (
        <div className="basis-full">
          <Failure error={error} />
        </div>
      )}
    </>
  );
}
