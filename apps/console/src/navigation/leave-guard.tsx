import { useBlocker } from '@tanstack/react-router';
import { useEffect, useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { Button } from '../ui/button.tsx';
import { Dialog, DialogActions } from '../ui/dialog.tsx';
import { guardLeaving } from '../ui/leaving.ts';
import { giveUp, isUnsaved, watchWriting } from './unsaved.ts';

const PANELS = 'dialog[open]';

/** Asks before what somebody wrote goes: with a dialog, a page, or the tab. */
export function LeaveGuard(): ReactNode {
  const t = useTranslations('navigation');
  const [asked, setAsked] = useState<{ place: Node & ParentNode; go: () => void }>();
  useEffect(() => watchWriting(document), []);
  useEffect(
    () =>
      guardLeaving((place, go) => {
        if (isUnsaved(place)) setAsked({ place, go });
        else go();
      }),
    [],
  );
  const blocker = useBlocker({
    shouldBlockFn: ({ current, next, action }) => {
      if (current.pathname !== next.pathname) return isUnsaved(document);
      // Filters of the same page lose nothing; a step back may close a panel.
      const isStep = action === 'BACK' || action === 'FORWARD' || action === 'GO';
      return isStep && [...document.querySelectorAll(PANELS)].some(isUnsaved);
    },
    enableBeforeUnload: () => isUnsaved(document),
    withResolver: true,
  });
  const isBlocked = blocker.status === 'blocked';
  const keep = (): void => {
    setAsked(undefined);
    blocker.reset?.();
  };
  const discard = (): void => {
    giveUp(asked?.place ?? document);
    setAsked(undefined);
    asked?.go();
    blocker.proceed?.();
  };
  return (
    <Dialog open={asked !== undefined || isBlocked} onClose={keep} title={t('unsaved.title')}>
      <p className="text-soft">{t('unsaved.lead')}</p>
      <DialogActions>
        <Button onClick={keep}>{t('unsaved.keep')}</Button>
        <Button look="danger" onClick={discard}>
          {t('unsaved.discard')}
        </Button>
      </DialogActions>
    </Dialog>
  );
}
