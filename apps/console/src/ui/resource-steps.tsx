import { useMutation } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { Button } from './button.tsx';
import { Confirm } from './dialog.tsx';
import { Failure } from './notices.tsx';
import { useSay } from './toasts.tsx';

interface ResourceStepsProps {
  name: string;
  deleted: boolean;
  /** What leads to a form; left out where it may not be changed. */
  onEdit?: (() => void) | undefined;
  /** Whether something else is the main thing to do. */
  beside?: boolean;
  /** Each left out without its permission. */
  remove?: (() => Promise<unknown>) | undefined;
  restore?: (() => Promise<unknown>) | undefined;
  purge?: (() => Promise<unknown>) | undefined;
  /** What goes with it for good, and what keeps it. */
  purgeLead: string;
  /** Reads anew what shows it. */
  changed: () => Promise<void>;
  /** It is no longer there to be looked at. */
  onGone: () => void;
}

/** What one can do with a whole thing: change it, delete it and take that back, remove it for good. */
export function ResourceSteps(props: ResourceStepsProps): ReactNode {
  const { name, deleted, onEdit, beside = false, remove, restore, purge, purgeLead } = props;
  const t = useTranslations('ui');
  const [asking, setAsking] = useState(false);
  const acts = useActs(props);
  const error = acts.remove.error ?? acts.restore.error;
  return (
    <>
      <div className="flex flex-wrap gap-2 empty:hidden">
        {!deleted && onEdit !== undefined && (
          <Button look={beside ? 'plain' : 'main'} onClick={onEdit}>
            {t('edit')}
          </Button>
        )}
        {!deleted && remove !== undefined && (
          <Button look="danger" busy={acts.remove.isPending} onClick={() => acts.remove.mutate()}>
            {t('delete')}
          </Button>
        )}
        {deleted && restore !== undefined && (
          <Button busy={acts.restore.isPending} onClick={() => acts.restore.mutate()}>
            {t('restore')}
          </Button>
        )}
        {deleted && purge !== undefined && (
          <Button look="danger" onClick={() => setAsking(true)}>
            {t('purge')}
          </Button>
        )}
      </div>
      {error !== null && <Failure error={error} />}
      <Confirm
        open={asking}
        danger
        title={t('purgeName', { name })}
        action={t('purge')}
        onClose={() => setAsking(false)}
        onConfirm={() => acts.purge.mutate()}
        busy={acts.purge.isPending}
        error={acts.purge.error}
      >
        {purgeLead}
      </Confirm>
    </>
  );
}

function useActs({ name, remove, restore, purge, changed, onGone }: ResourceStepsProps) {
  const t = useTranslations('ui');
  const say = useSay();
  const restoring = useMutation({
    mutationFn: async () => restore?.(),
    onSuccess: async () => {
      await changed();
      say(t('restoredSaid', { name }));
    },
  });
  const removing = useMutation({
    mutationFn: async () => remove?.(),
    onSuccess: async () => {
      onGone();
      await changed();
      say(t('deletedSaid', { name }), restore && (() => restoring.mutateAsync()));
    },
  });
  const purging = useMutation({
    mutationFn: async () => purge?.(),
    onSuccess: async () => {
      onGone();
      await changed();
      say(t('purgedSaid', { name }));
    },
  });
  return { restore: restoring, remove: removing, purge: purging };
}
