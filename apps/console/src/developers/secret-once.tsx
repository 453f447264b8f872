import { useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { Button } from '../ui/button.tsx';
import { Dialog, DialogActions } from '../ui/dialog.tsx';
import { Checkbox } from '../ui/form.tsx';
import { Code } from '../ui/json.tsx';
import { Note } from '../ui/notices.tsx';

interface SecretOnceProps {
  title: string;
  /** How it is used, and until when what it replaces. */
  children: ReactNode;
  secret: string;
  onClose: () => void;
}

/** A secret that the platform shows this once. It goes away only after one has said that one has it. */
export function SecretOnce({ title, children, secret, onClose }: SecretOnceProps): ReactNode {
  const t = useTranslations('developers');
  const [kept, setKept] = useState(false);
  return (
    <Dialog open title={title}>
      <Note tone="warn">{t('once')}</Note>
      <Code text={secret} label={title} />
      <div className="text-soft">{children}</div>
      <Checkbox label={t('haveIt')} checked={kept} onChange={({ target }) => setKept(target.checked)} />
      <DialogActions>
        <Button look="main" disabled={!kept} onClick={onClose}>
          {t('done')}
        </Button>
      </DialogActions>
    </Dialog>
  );
}
