import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { DraftFormProps } from './draft-form.tsx';
import { Failure } from './notices.tsx';
import { useSay } from './toasts.tsx';
import { useEdit, type EditOptions } from './use-edit.tsx';

/** All that a form over a draft is given, but what its button is called. */
type DraftForm<Draft> = Omit<DraftFormProps<Draft>, 'action' | 'onCancel'>;

interface NewDraftOptions<Draft, Made> {
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
  const { begin, create, said, changed, onMade } = options;
  const say = useSay();
  const [draft, setDraft] = useState(begin);
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => create(draft),
    onSuccess: async (made) => {
      await changed();
      say(said(made));
      onMade(made);
    },
  });
  const children = error !== null && <Failure error={error} />;
  return { draft, onChange: setDraft, onSend: mutate, busy: isPending, error, children };
}

interface EditDraftOptions<Item, Draft, Body extends object> extends Pick<
  EditOptions<Item, Body>,
  'opened' | 'read' | 'write' | 'nameOf'
> {
  draftOf: (item: Item) => Draft;
  bodyOf: (draft: Draft) => Body;
  /** What is said once it is saved. */
  said: (now: Item) => string;
  /** Reads anew what shows it. */
  changed: () => Promise<void>;
  onDone: () => void;
}

/** A form over something that others change, too. */
export function useEditDraft<Item, Draft, Body extends object>(
  options: EditDraftOptions<Item, Draft, Body>,
): DraftForm<Draft> & { onCancel: () => void } {
  const { draftOf, bodyOf, said, changed, onDone, ...rest } = options;
  const say = useSay();
  const [draft, setDraft] = useState(() => draftOf(rest.opened.data));
  const { save, busy, error, shown } = useEdit({
    ...rest,
    body: bodyOf(draft),
    bodyOf: (item: Item) => bodyOf(draftOf(item)),
    onTheirs: (now) => setDraft(draftOf(now)),
    onSaved: (now) => {
      void changed();
      say(said(now));
      onDone();
    },
  });
  return { draft, onChange: setDraft, onSend: save, onCancel: onDone, busy, error, children: shown };
}
