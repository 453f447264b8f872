import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { Button } from '../ui/button.tsx';
import type { Acts } from './use-acts.tsx';

interface RemovalProps {
  name: string;
  deleted: boolean;
  acts: Acts;
  /** What the button that deletes says, where that is not enough said by its verb. */
  label?: string;
  /** What is asked before it is deleted. */
  title: string;
  lead: string;
  /** Who may delete may take it back. */
  mayDelete: boolean;
  mayPurge: boolean;
  remove: () => Promise<unknown>;
  restore: () => Promise<unknown>;
  purge: () => Promise<unknown>;
  /** It is no longer there to be looked at. */
  onGone: () => unknown;
}

/** Deletes something of the organization and takes that back, or removes it for good. */
export function Removal(props: RemovalProps): ReactNode {
  const { name, deleted, acts, label, title, lead, mayDelete, mayPurge, remove, purge, onGone } = props;
  const t = useTranslations('organization');
  const restore = { run: props.restore, done: t('restored') };
  const action = t('delete');
  const removal = { run: remove, done: t('deletedDone'), undo: restore, title, lead, action };
  const purging = {
    run: () => purge().then(onGone),
    done: t('purged'),
    title: t('purgeTitle', { name }),
    lead: t('purgeLead'),
    action: t('purge'),
  };
  return (
    <>
      {!deleted && mayDelete && (
        <Button look="danger" onClick={() => acts.ask(removal)}>
          {label ?? action}
        </Button>
      )}
      {deleted && mayDelete && (
        <Button busy={acts.busy} onClick={() => acts.act(restore)}>
          {t('restore')}
        </Button>
      )}
      {deleted && mayPurge && (
        <Button look="danger" onClick={() => acts.ask(purging)}>
          {t('purge')}
        </Button>
      )}
    </>
  );
}
