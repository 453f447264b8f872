import { createContext, Suspense, useContext, useEffect, useState, type ReactNode } from 'react';
import { CatchBoundary } from '@tanstack/react-router';
import { useTranslations } from 'use-intl';
import { lateComponent } from './lazy-part.tsx';
import { useReasonOf } from './problem-words.tsx';
import { ToastQueue } from './toast-queue.ts';

// Nothing is said before something was done: it comes after the first screen.
const ToastStack = lateComponent(async () => (await import('./toast-stack.tsx')).ToastStack);
const LOADED_AFTER_MS = 3_000;

const ToastsContext = createContext<ToastQueue | undefined>(undefined);

/** Says in a corner what was done; with a step back where there is one. */
export function Toasts({ children }: { children: ReactNode }): ReactNode {
  const [queue] = useState(() => new ToastQueue());
  const [wanted, setWanted] = useState(false);
  useEffect(() => {
    const want = (): void => setWanted(true);
    const later = setTimeout(want, LOADED_AFTER_MS);
    queue.onFirst(want);
    return () => clearTimeout(later);
  }, [queue]);
  return (
    <ToastsContext value={queue}>
      {children}
      {wanted && (
        // What was done is done, whether or not it can be said.
        <CatchBoundary getResetKey={() => 'toasts'} errorComponent={() => null}>
          <Suspense>
            <ToastStack queue={queue} />
          </Suspense>
        </CatchBoundary>
      )}
    </ToastsContext>
  );
}

/**
 * Says that something was done; `undo` takes it back, and what it rejects with is said, too.
 * @throws outside of the signed-in part of the Console
 */
export function useSay(): (title: string, undo?: () => Promise<unknown>) => void {
  const t = useTranslations('ui');
  const reasonOf = useReasonOf();
  const queue = useContext(ToastsContext);
  if (queue === undefined) throw new Error('No Toasts are around');
  return (title, undo) => {
    if (undo === undefined) return queue.say({ title });
    queue.sayDone(title, undo, (error) => ({ title: t('notUndone', { title }), lead: reasonOf(error) }));
  };
}
