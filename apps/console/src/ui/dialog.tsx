import { X } from 'lucide-react';
import { useEffect, useId, useLayoutEffect, useRef, type MouseEvent, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { Button, IconButton } from './button.tsx';
import { useIsFrontFree } from './in-front.ts';
import { leave } from './leaving.ts';
import { Failure } from './notices.tsx';

interface DialogProps {
  open: boolean;
  /** Left out where only what the dialog asks for leads on. */
  onClose?: () => void;
  title: string;
  lead?: ReactNode;
  children: ReactNode;
  /** Does not wait behind the search: nothing can go on before it was answered. */
  isUrgent?: boolean;
  /** `side`: a panel at the right edge that leaves the page in sight. */
  place?: 'middle' | 'side';
}

const PLACES = {
  middle: 'm-auto max-h-[84dvh] w-[min(36rem,calc(100vw-2rem))] rounded-panel border border-line',
  side: 'mr-0 ml-auto h-dvh max-h-none w-[min(40rem,100vw)] max-w-none border-l border-line',
} as const;

/**
 * A dialog: keeps the focus inside, asks its owner to close it at Escape, and gives the focus back. What was written in
 * it goes only after a question, unless its form is canceled. While the search stands in front, it waits behind it.
 */
export function Dialog(props: DialogProps): ReactNode {
  const { open, onClose, title, lead, children, isUrgent = false, place = 'middle' } = props;
  const t = useTranslations('ui');
  const id = useId();
  const element = useRef<HTMLDialogElement>(null);
  const isFree = useIsFrontFree() || isUrgent;
  const close = (): void => {
    if (onClose !== undefined && element.current !== null) leave(element.current, onClose);
  };
  useEffect(() => {
    const dialog = element.current;
    if (open && dialog?.open === false) {
      if (isFree) dialog.showModal();
    } else if (!open && dialog?.open === true) dialog.close();
  }, [open, isFree]);
  // What is taken off the page without being closed leaves the focus nowhere.
  useLayoutEffect(() => {
    const dialog = element.current;
    return () => dialog?.close();
  }, []);
  return (
    <dialog
      ref={element}
      aria-labelledby={id}
      className={`overflow-y-auto bg-raised p-5 text-ink shadow-xl backdrop:bg-black/40 ${PLACES[place]}`}
      onCancel={(event) => {
        // A picker of files inside says so, too, when nothing was chosen.
        if (event.target !== event.currentTarget) return;
        // Whether it closes is said by whoever opened it.
        event.preventDefault();
        close();
      }}
      onClose={({ currentTarget: dialog }) => {
        // A browser asks once: the second Escape without a click in between closes. It is not gone by that.
        if (!open || dialog.open) return;
        dialog.showModal();
        close();
      }}
      onClick={(event) => event.target === event.currentTarget && isOutside(event) && close()}
    >
      {open && (
        <>
          <div className="flex items-start gap-3">
            <div className="grow">
              <h2 id={id} className="text-base font-semibold">
                {title}
              </h2>
              {lead !== undefined && <p className="mt-1 text-soft">{lead}</p>}
            </div>
            {onClose !== undefined && (
              <IconButton label={t('close')} onClick={close}>
                <X aria-hidden className="size-4" />
              </IconButton>
            )}
          </div>
          <div className="mt-4 flex flex-col gap-4">{children}</div>
        </>
      )}
    </dialog>
  );
}

/** On the backdrop, which belongs to the dialog as its padding does. */
function isOutside({ currentTarget, clientX, clientY }: MouseEvent<HTMLDialogElement>): boolean {
  const { left, right, top, bottom } = currentTarget.getBoundingClientRect();
  return clientX < left || clientX > right || clientY < top || clientY > bottom;
}

interface ConfirmProps {
  open: boolean;
  onClose: () => void;
  title: string;
  /** What will happen, and whether it can be undone. */
  children: ReactNode;
  /** What the button does, by its verb. */
  action: string;
  onConfirm: () => void;
  busy?: boolean;
  error?: unknown;
  danger?: boolean;
}

/** Asks once before what cannot be undone. */
export function Confirm(props: ConfirmProps): ReactNode {
  const { open, onClose, title, children, action, onConfirm, busy, error, danger } = props;
  const t = useTranslations('ui');
  return (
    <Dialog open={open} onClose={onClose} title={title}>
      <div className="text-soft">{children}</div>
      {error != null && <Failure error={error} />}
      <DialogActions>
        <Button onClick={onClose}>{t('cancel')}</Button>
        <Button look={danger ? 'danger' : 'main'} busy={busy} onClick={onConfirm}>
          {action}
        </Button>
      </DialogActions>
    </Dialog>
  );
}

export function DialogActions({ children }: { children: ReactNode }): ReactNode {
  return <div className="flex flex-wrap justify-end gap-2">{children}</div>;
}
