import { useMutation } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { useSession } from '../session/use-session.tsx';
import { Button } from '../ui/button.tsx';
import { Dialog, DialogActions } from '../ui/dialog.tsx';
import { useTranslations } from 'use-intl';
import { useReadAnew } from '../ui/queries.ts';
import { useSay } from '../ui/toasts.tsx';
import { Refused } from './refused.tsx';

/** One step on something of the organization. */
export interface Act {
  run: () => Promise<unknown>;
  /** What is said when it is done. */
  done: string;
  /** Takes it back, where the API can. */
  undo?: Act;
}

/** A step that is asked about first. */
interface Asked extends Act {
  title: string;
  lead: ReactNode;
  /** What the button does, by its verb. */
  action: string;
}

export interface Acts {
  act: (act: Act) => void;
  ask: (asked: Asked) => void;
  busy: boolean;
  /** The question, and what was refused; to be shown on the page. */
  shown: ReactNode;
}

/** Everything that these pages read is read anew after each step: one change shows in many places. */
export function useChanged(): () => Promise<void> {
  const changed = useReadAnew('organization');
  const session = useSession();
  return async () => {
    // What one may do may have changed with it, and the menu with that.
    void session.readAgain();
    await changed();
  };
}

export function useActs(): Acts {
  const t = useTranslations('ui');
  const say = useSay();
  const changed = useChanged();
  const [asked, setAsked] = useState<Asked>();
  const step = useMutation({
    mutationFn: ({ run }: Act) => run(),
    onSuccess: async (_, { done, undo }) => {
      setAsked(undefined);
      say(done, undo && (() => step.mutateAsync(undo)));
      await changed();
    },
  });
  const close = (): void => {
    step.reset();
    setAsked(undefined);
  };
  const shown = (
    <>
      {asked === undefined && <Refused error={step.error} />}
      <Dialog open={asked !== undefined} onClose={close} title={asked?.title ?? ''}>
        <div className="text-soft">{asked?.lead}</div>
        <Refused error={step.error} />
        <DialogActions>
          <Button onClick={close}>{t('cancel')}</Button>
          <Button look="danger" busy={step.isPending} onClick={() => asked && step.mutate(asked)}>
            {asked?.action}
          </Button>
        </DialogActions>
      </Dialog>
    </>
  );
  return {
    act: step.mutate,
    ask: (next) => {
      step.reset();
      setAsked(next);
    },
    busy: step.isPending,
    shown,
  };
}
