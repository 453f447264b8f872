import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { Dialog } from '../../ui/dialog.tsx';
import { AdjustForm } from './adjust-form.tsx';

interface AdjustDialogProps {
  /** The contact whose points these are, where that is known already; else empty. */
  contactId: string;
  onClose: () => void;
}

/** A form in front of whatever page shows points. */
export function AdjustDialog({ contactId, onClose }: AdjustDialogProps): ReactNode {
  const t = useTranslations('loyalty');
  return (
    <Dialog open onClose={onClose} title={t('adjust')} lead={t('adjustLead')}>
      <AdjustForm contactId={contactId} onDone={onClose} />
    </Dialog>
  );
}
