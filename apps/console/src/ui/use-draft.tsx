import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { DraftFormProps } from './draft-form.tsx';
import { useKeptDraft } from './kept-drafts.tsx';
import { Failure } from './notices.tsx';
import { useSay } from './toasts.tsx';
import { useEdit, type EditOptions, type Reading } from './use-edit.tsx';

/** All that a form over a draft is given, but what its button is called. */
type DraftForm<Draft> = Omit<DraftFormProps<Draft>, 'action' | 'onCancel'>;

interface NewDraftOptions<Draft, Made> {
  /** The name by which what is written is kept until it is sent. */
  keptAs: string;
  begin: () => Draft;
  create: (draft: Draft) => Promise<Made>;
  /** What is said once it is made. */
  said: (made: Made) => string;
  /** Reads anew what lists it. */
  changed: () => Promise<void>;
  onMade: (made: Made) => void;
}

/** A form over something that is not there yet. */
export function useNewDraft<Draft, Made>(options: NewDraftOptions<Draft, Made>): DraftForm<Draft> {
  const { keptAs, begin, create, said, changed, onMade } = options;
  const say = useSay();
  const { found, keep, forget, formOf } = useKeptDraft<Draft>(keptAs);
  const [draft, setDraft] = useState(() => found ?? begin());
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => create(draft),
    onSuccess: async (made) => {
      forget();
      await changed();
      // What was typed meanwhile is of what is made already.
      forget();
      say(said(made));
      onMade(made);
    },
  });
  const children = error !== null && <Failure error={error} />;
  const onChange = (next: Draft): void => {
    keep(next);
    setDraft(next);
  };
  const kept = formOf(() => setDraft(begin()));
  return { draft, onChange, onSend: mutate, busy: isPending, error, kept, children };
}

interface EditDraftOptions<Item, Draft, Body extends object> extends Pick<
  EditOptions<Item, Body>,
  'opened' | 'read' | 'write' | 'nameOf'
> {
  /** The name by which what is written is kept until it is saved. */
  keptAs: string;
  draftOf: (item: Item) => Draft;
  bodyOf: (draft: Draft) => Body;
  /** What is said once it is saved. */
  said: (now: Item) => string;
  /** Reads anew what shows it. */
  changed: () => Promise<void>;
  onDone: () => void;
}

/** A change of something: what was written, and the reading that it was written over. */
interface KeptChange<Item, Draft> {
  opened: Reading<Item>;
  draft: Draft;
}

/** A form over something that others change, too. */
export function useEditDraft<Item, Draft, Body extends object>(
  options: EditDraftOptions<Item, Draft, Body>,
): DraftForm<Draft> & { onCancel: () => void } {
  const { keptAs, draftOf, bodyOf, said, changed, onDone, ...rest } = options;
  const say = useSay();
  const { found, keep, forget, formOf } = useKeptDraft<KeptChange<Item, Draft>>(keptAs);
  // A change is of what was read before it: what others have changed since is seen by its tag.
  const [opened] = useState(found?.opened ?? rest.opened);
  const [draft, setDraft] = useState(() => found?.draft ?? draftOf(opened.data));
  const { save, busy, error, shown } = useEdit({
    ...rest,
    opened,
    body: bodyOf(draft),
    bodyOf: (item: Item) => bodyOf(draftOf(item)),
    onTheirs: (now) => {
      forget();
      setDraft(draftOf(now));
    },
    onSaved: (now) => {
      forget();
      void changed();
      say(said(now));
      onDone();
    },
  });
  const onChange = (next: Draft): void => {
    keep({ opened, draft: next });
    setDraft(next);
  };
  const kept = formOf(onDone);
  return { draft, onChange, onSend: save, onCancel: onDone, busy, error, kept, children: shown };
}
