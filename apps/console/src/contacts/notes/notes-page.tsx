import { useParams } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../../api/api.tsx';
import { useMay } from '../../session/use-session.tsx';
import { Button } from '../../ui/button.tsx';
import { Checkbox, TextArea } from '../../ui/form.tsx';
import { useKeptDraft } from '../../ui/kept-drafts.tsx';
import { Empty, Failure, Forbidden } from '../../ui/notices.tsx';
import type { List } from '../../ui/list.ts';
import { useSay } from '../../ui/toasts.tsx';
import { problemsAt } from '../../ui/problem-at.ts';
import { useChange } from '../use-change.ts';
import { NoteCard } from './note-card.tsx';
import { useNotes, type Note } from './use-notes.ts';
import { LONGEST_NOTE } from './note-length.ts';

const FROM = '/o/$organization/contacts/$contactId/notes' as const;

/** What staff wrote on a contact: pinned first, then the newest. */
export function NotesPage(): ReactNode {
  const may = useMay();
  const { contactId } = useParams({ from: FROM });
  if (!may('crm.notes.read')) return <Forbidden permission="crm.notes.read" />;
  return (
    <div className="flex max-w-3xl flex-col gap-6">
      {may('crm.notes.create') && <WriteNote contactId={contactId} />}
      <Written contactId={contactId} />
    </div>
  );
}

interface NewNote {
  body: string;
  pinned: boolean;
}

const NEW_NOTE: NewNote = { body: '', pinned: false };

function WriteNote({ contactId }: { contactId: string }): ReactNode {
  const t = useTranslations('contacts');
  const api = useApi();
  const say = useSay();
  const { found, keep, forget, formOf } = useKeptDraft<NewNote>(`notes/of/${contactId}`);
  const [note, setNote] = useState(found ?? NEW_NOTE);
  const { body, pinned } = note;
  const set = (changed: Partial<NewNote>): void => {
    keep({ ...note, ...changed });
    setNote({ ...note, ...changed });
  };
  const kept = formOf(() => setNote(NEW_NOTE));
  const write = useChange(
    contactId,
    async () => {
      await api.POST('/v1/crm/notes', { body: { contact_id: contactId, body, pinned } });
    },
    () => {
      forget();
      setNote(NEW_NOTE);
      say(t('notes.written'));
    },
  );
  const errors = problemsAt(write.error);
  return (
    <form
      data-draft={kept.key}
      className="flex flex-col gap-3"
      onSubmit={(event) => {
        event.preventDefault();
        write.mutate();
      }}
    >
      {kept.note}
      <TextArea
        label={t('notes.write')}
        value={body}
        maxLength={LONGEST_NOTE}
        error={errors['/body']}
        onChange={(event) => set({ body: event.target.value })}
      />
      {write.error !== null && errors['/body'] === undefined && <Failure error={write.error} />}
      <div className="flex flex-wrap items-center gap-4">
        <Button type="submit" look="main" busy={write.isPending} disabled={body.trim() === ''}>
          {t('notes.save')}
        </Button>
        <Checkbox
          label={t('notes.pin')}
          checked={pinned}
          onChange={(event) => set({ pinned: event.target.checked })}
        />
      </div>
    </form>
  );
}

function Written({ contactId }: { contactId: string }): ReactNode {
  const t = useTranslations('contacts');
  const pinned = useNotes(contactId, true);
  const others = useNotes(contactId, false);
  const broken = [pinned, others].find(({ error, items }) => error != null && items.length === 0);
  if (broken !== undefined) return <Failure error={broken.error} again={broken.again} />;
  if (pinned.loading || others.loading) return <div aria-busy className="bones h-24" />;
  if (pinned.items.length + others.items.length === 0)
    return <Empty title={t('notes.none')}>{t('notes.noneLead')}</Empty>;
  return (
    <ul aria-label={t('parts.notes')} className="flex flex-col gap-3">
      <Cards list={pinned} contactId={contactId} />
      <Cards list={others} contactId={contactId} />
    </ul>
  );
}

function Cards({ list, contactId }: { list: List<Note>; contactId: string }): ReactNode {
  const t = useTranslations('ui');
  return (
    <>
      {list.items.map((note) => (
        <li key={note.id}>
          <NoteCard note={note} contactId={contactId} />
        </li>
      ))}
      {list.hasMore && (
        <li>
          <Button look="quiet" busy={list.loadingMore} onClick={list.more}>
            {t('more')}
          </Button>
        </li>
      )}
    </>
  );
}
