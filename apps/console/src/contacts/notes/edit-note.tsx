import { useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../../api/api.tsx';
import { usePerson } from '../../session/use-session.tsx';
import { Button } from '../../ui/button.tsx';
import { TextArea } from '../../ui/form.tsx';
import { Failure, Note as Said } from '../../ui/notices.tsx';
import { useSay } from '../../ui/toasts.tsx';
import { isConflict, useChange } from '../use-change.ts';
import { LONGEST_NOTE } from './note-length.ts';
import type { Note } from './use-notes.ts';

interface EditNoteProps {
  note: Note;
  contactId: string;
  onDone: () => void;
}

/** Changes a note's text; where somebody else has changed it meanwhile, one sees theirs and chooses. */
export function EditNote({ note, contactId, onDone }: EditNoteProps): ReactNode {
  const t = useTranslations('contacts');
  const ui = useTranslations('ui');
  const say = useSay();
  const api = useApi();
  const [body, setBody] = useState(note.body);
  const { data: current, refetch } = useCurrent(note.id);
  const save = useChange(
    contactId,
    async () => {
      const params = { path: { id: note.id } };
      const guard = current?.etag === undefined ? {} : { ifMatch: current.etag };
      try {
        await api.PATCH('/v1/crm/notes/{id}', { params, body: { body }, ...guard });
      } catch (error) {
        if (isConflict(error)) await refetch();
        throw error;
      }
    },
    () => {
      say(t('notes.saved'));
      onDone();
    },
  );
  const conflict = isConflict(save.error);
  return (
    <form
      className="flex flex-col gap-3"
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate();
      }}
    >
      <TextArea
        label={t('notes.text')}
        value={body}
        maxLength={LONGEST_NOTE}
        onChange={(event) => setBody(event.target.value)}
      />
      {conflict && (
        <Said tone="warn">
          <p>{t('notes.conflict')}</p>
          <p dir="auto" className="my-2 whitespace-pre-wrap">
            {current?.note.body}
          </p>
          <Button onClick={() => setBody(current?.note.body ?? body)}>{t('takeTheirs')}</Button>
        </Said>
      )}
      {save.error !== null && !conflict && <Failure error={save.error} />}
      <div className="flex flex-wrap gap-2">
        <Button
          type="submit"
          look="main"
          busy={save.isPending}
          disabled={body.trim() === '' || current === undefined}
        >
          {conflict ? t('keepMine') : ui('save')}
        </Button>
        <Button onClick={onDone}>{ui('cancel')}</Button>
      </div>
    </form>
  );
}

function useCurrent(id: string) {
  const api = useApi();
  const { organization } = usePerson();
  return useQuery({
    queryKey: [organization.id, 'notes', id],
    gcTime: 0,
    staleTime: Infinity,
    queryFn: async ({ signal }) => {
      const { data, etag } = await api.GET('/v1/crm/notes/{id}', { params: { path: { id } }, signal });
      return { note: data, etag };
    },
  });
}
