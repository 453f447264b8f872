import { useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { usePerson } from '../session/use-session.tsx';
import { Button } from './button.tsx';
import { Note } from './notices.tsx';

/** Texts of forms that were neither saved nor given up, for the session: in memory alone, by organization, person and form. */
const drafts = new Map<string, unknown>();

/** Tells whether any form left a draft that would be lost with the page. */
export function areDraftsKept(): boolean {
  return drafts.size > 0;
}

/** Tells whether the text of one form is kept. */
export function isDraftKept(key: string): boolean {
  return drafts.has(key);
}

export function forgetDraft(key: string): void {
  drafts.delete(key);
}

/** Forgets all of them: whoever signs out or goes to another organization leaves nothing behind. */
export function forgetDrafts(): void {
  drafts.clear();
}

/** Properties of a form whose text is kept. */
export interface KeptForm {
  /** Stands in its `data-draft`, by which the guard knows that its text is kept. */
  key: string;
  /** Says that the text is one from before, and lets it be discarded. */
  note: ReactNode;
  forget: () => void;
}

interface KeptDraft<Text> {
  /** The text from before, where there is one. */
  found: Text | undefined;
  keep: (text: Text) => void;
  forget: () => void;
  /** @param onDiscard gives the form what it would hold without the text from before */
  formOf: (onDiscard: () => void) => KeptForm;
}

/**
 * Keeps what is written in a form until it is saved, canceled or given up: who leaves it and comes back finds it again.
 * @param name of the form, with the id of what it changes
 */
export function useKeptDraft<Text>(name: string): KeptDraft<Text> {
  const t = useTranslations('drafts');
  const key = useDraftKey(name);
  const [found] = useState(() => drafts.get(key) as Text | undefined);
  const [isOld, setIsOld] = useState(found !== undefined);
  const forget = (): void => {
    forgetDraft(key);
    setIsOld(false);
  };
  const noteOf = (onDiscard: () => void): ReactNode => (
    <Note>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <p className="grow basis-60">{t('keptText')}</p>
        <Button
          onClick={() => {
            forget();
            onDiscard();
          }}
        >
          {t('discardText')}
        </Button>
      </div>
    </Note>
  );
  return {
    found,
    keep: (text) => void drafts.set(key, text),
    forget,
    formOf: (onDiscard) => ({ key, note: isOld && noteOf(onDiscard), forget }),
  };
}

/** Says where a form holds a text from before that is not in sight, and leads there. */
export function KeptElsewhere({ name, onOpen }: { name: string; onOpen: () => void }): ReactNode {
  const t = useTranslations('drafts');
  const key = useDraftKey(name);
  if (!isDraftKept(key)) return null;
  return (
    <Note>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <p className="grow basis-60">{t('keptElsewhere')}</p>
        <Button onClick={onOpen}>{t('continueText')}</Button>
      </div>
    </Note>
  );
}

function useDraftKey(name: string): string {
  const { id, organization } = usePerson();
  return `${organization.id} ${id} ${name}`;
}
