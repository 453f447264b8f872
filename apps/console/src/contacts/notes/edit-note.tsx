import { useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../../api/api.tsx';
import { Button } from '../../ui/button.tsx';
import { TextArea } from '../../ui/form.tsx';
import { useKeptDraft } from '../../ui/kept-drafts.tsx';
import { Failure } from '../../ui/notices.tsx';
import { useOwnQuery } from '../../ui/queries.ts';
import { useSay } from '../../ui/toasts.tsx';
import { useEdit, type Reading } from '../../ui/use-edit.tsx';
import { useChanged } from '../use-change.ts';
import { LONGEST_NOTE } from './note-length.ts';
import type { Note } from './use-notes.ts';

interface EditNoteProps {
  id: string;
  contactId: string;
  onDone: () => void;
}

/** Changes a note's text as it is now: what a list shows of it may be older than the tag that guards the change. */
export function EditNote({ id, contactId, onDone }: EditNoteProps): ReactNode {
  const ui = useTranslations('ui');
  const { data, error, refetch } = useCurrent(id);
  if (data !== undefined) return <NoteForm opened={data} contactId={contactId} onDone={onDone} />;
  return (
    <div className="flex flex-col gap-3">
      {error === null ? (
        <div aria-busy className="bones h-24" />
      ) : (
        <Failure error={error} again={() => void refetch()} />
      )}
      <div>
        <Button onClick={onDone}>{ui('cancel')}</Button>
      </div>
    </div>
  );
}

interface NoteFormProps {
  opened: Reading<Note>;
  contactId: string;
  onDone: () => void;
}

/** A change of a note: what was written, and the reading that it was written over. */
interface KeptNote {
  opened: Reading<Note>;
  body: string;
}

function NoteForm({ opened: read, contactId, onDone }: NoteFormProps): ReactNode {
  const t = useTranslations('contacts');
  const ui = useTranslations('ui');
  const say = useSay();
  const api = useApi();
  const changed = useChanged(contactId);
  const { found, keep, forget, formOf } = useKeptDraft<KeptNote>(`notes/${read.data.id}`);
  const [opened] = useState(found?.opened ?? read);
  const [body, setBody] = useState(found?.body ?? opened.data.body);
  const kept = formOf(onDone);
  const params = { path: { id: opened.data.id } };
  const edit = useEdit({
    opened,
    body: { body },
    bodyOf: ({ body: written }: Note) => ({ body: written }),
    read: () => api.GET('/v1/crm/notes/{id}', { params }),
    write: (change, { etag }) => api.PATCH('/v1/crm/notes/{id}', { params, body: change, ifMatch: etag }),
    nameOf: () => t('notes.text'),
    onSaved: () => {
      forget();
      say(t('notes.saved'));
      onDone();
      void changed();
    },
    onTheirs: (now) => {
      forget();
      setBody(now.body);
      void changed();
    },
  });
  return (
    <form
      data-draft={kept.key}
      className="flex flex-col gap-3"
      onSubmit={(event) => {
        event.preventDefault();
        edit.save();
      }}
    >
      {kept.note}
      <TextArea
        label={t('notes.text')}
        value={body}
        maxLength={LONGEST_NOTE}
        onChange={({ target }) => {
          keep({ opened, body: target.value });
          setBody(target.value);
        }}
      />
      {edit.shown}
      <div className="flex flex-wrap gap-2">
        <Button type="submit" look="main" busy={edit.busy} disabled={body.trim() === ''}>
          {ui('save')}
        </Button>
        <Button onClick={() => (forget(), onDone())}>{ui('cancel')}</Button>
      </div>
    </form>
  );
}

/** Read anew at each opening. */
function useCurrent(id: string) {
  const api = useApi();
  return useOwnQuery({
    queryKey: ['notes', id],
    gcTime: 0,
    staleTime: Infinity,
    queryFn: async ({ signal }): Promise<Reading<Note>> =>
      api.GET('/v1/crm/notes/{id}', { params: { path: { id } }, signal }),
  });
}
