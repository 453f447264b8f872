import type { ReactNode } from 'react';
import { lazyPart } from '../../ui/lazy-part.tsx';
import { Button } from '../../ui/button.tsx';

const AdjustDialog = lazyPart(async () => (await import('./adjust-dialog.tsx')).AdjustDialog);

interface AdjustPointsProps {
  /** The contact whose points these are; undefined where that is to be chosen. */
  contactId: string | undefined;
  /** The button's name and look. */
  label: string;
  look: 'main' | 'quiet';
  open: boolean;
  onOpen: (open: boolean) => void;
}

/** The way to give points to a contact, or to take some. */
export function AdjustPoints({ contactId, label, look, open, onOpen }: AdjustPointsProps): ReactNode {
  return (
    <>
      <Button look={look} onClick={() => onOpen(true)}>
        {label}
      </Button>
      {open && <AdjustDialog contactId={contactId ?? ''} onClose={() => onOpen(false)} />}
    </>
  );
}
