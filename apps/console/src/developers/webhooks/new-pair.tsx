import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { Button } from '../../ui/button.tsx';
import { Id } from '../../ui/details.tsx';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';

interface NewPairProps {
  title: string;
  publicKey: string;
  /** What to know beside how it is used. */
  children?: ReactNode;
  onClose: () => void;
}

/** The half of a new pair that receivers need; it can be read again at any time. */
export function NewPair({ title, publicKey, children, onClose }: NewPairProps): ReactNode {
  const t = useTranslations('developers');
  return (
    <Dialog open onClose={onClose} title={title}>
      <p>{t('hooks.keyUse')}</p>
      <Id value={publicKey} />
      {children !== undefined && <p className="text-soft">{children}</p>}
      <DialogActions>
        <Button look="main" onClick={onClose}>
          {t('done')}
        </Button>
      </DialogActions>
    </Dialog>
  );
}
