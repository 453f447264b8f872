import { Plus } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { lazyPart } from '../ui/lazy-part.tsx';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';

const AdjustForm = lazyPart(async () => (await import('./adjust-form.tsx')).AdjustForm);

/** The way to give points to a contact, or to take some. */
export function AdjustPoints({ contactId }: { contactId: string | undefined }): ReactNode {
  const t = useTranslations('loyalty');
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button look="main" onClick={() => setOpen(true)}>
        <Plus aria-hidden className="size-4" />
        {t('adjust')}
      </Button>
      <Dialog open={open} onClose={() => setOpen(false)} title={t('adjust')} lead={t('adjustLead')}>
        <AdjustForm contactId={contactId ?? ''} onDone={() => setOpen(false)} />
      </Dialog>
    </>
  );
}
