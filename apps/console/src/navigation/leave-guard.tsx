import { useBlocker } from '@tanstack/react-router';
import { useEffect, useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { Button } from '../ui/button.tsx';
import { Dialog, DialogActions } from '../ui/dialog.tsx';
import { areDraftsKept, forgetDrafts } from '../ui/kept-drafts.tsx';
import { guardLeaving } from '../ui/leaving.ts';
import { giveUp, holdsSecret, isKept, isUnsaved, setAside, watchWriting } from './unsaved.ts';

const PANELS = 'dialog[open]';

/** Tells whether everything is left, as by a sign-out: no draft outlives that. */
const isAll = (place: Node): boolean => place === document;

/** Asks before what somebody wrote goes: with a dialog, a page, or the tab. */
export function LeaveGuard(): ReactNode {
  const t = useTranslations('navigation');
  const [asked, setAsked] = useState<{ place: Node & ParentNode; go: () => void }>();
  useEffect(() => watchWriting(document), []);
  useEffect(
    () =>
      guardLeaving((place, go) => {
        if (isUnsaved(place) || (isAll(place) && areDraftsKept())) setAsked({ place, go });
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
    enableBeforeUnload: () => isUnsaved(document) || areDraftsKept(),
    withResolver: true,
  });
  const isOpen = asked !== undefined || blocker.status === 'blocked';
  const place = asked?.place ?? document;
  const words = isOpen && holdsSecret(place) ? 'secret' : 'unsaved';
  const keep = (): void => {
    setAsked(undefined);
    blocker.reset?.();
  };
  const go = (): void => {
    setAsked(undefined);
    asked?.go();
    blocker.proceed?.();
  };
  const discard = (): void => {
    giveUp(place);
    if (asked !== undefined && isAll(asked.place)) forgetDrafts();
    go();
  };
  const keepAside = (): void => {
    setAside(place);
    go();
  };
  const mayComeBack = isOpen && !(asked !== undefined && isAll(asked.place)) && isKept(place);
  return (
    <Dialog open={isOpen} onClose={keep} title={t(`${words}.title`)}>
      <p className="text-soft">{mayComeBack ? t('unsaved.keptLead') : t(`${words}.lead`)}</p>
      <DialogActions>
        <Button onClick={keep}>{t(`${words}.keep`)}</Button>
        <Button look="danger" onClick={discard}>
          {t(`${words}.discard`)}
        </Button>
        {mayComeBack && (
          <Button look="main" onClick={keepAside}>
            {t('unsaved.keepAside')}
          </Button>
        )}
      </DialogActions>
    </Dialog>
  );
}
