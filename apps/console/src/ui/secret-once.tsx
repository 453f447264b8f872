import { useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { Button } from './button.tsx';
import { Dialog, DialogActions } from './dialog.tsx';
import { Checkbox } from './form.tsx';
import { Code } from './json.tsx';
import { Note } from './notices.tsx';

interface SecretOnceProps {
  title: string;
  /** Null: the answer that told it got lost, and the platform does not tell it twice. */
  secret: string | null;
  /** What to do where it got lost. */
  lost: string;
  /** How it is used, and until when what it replaces. */
  children?: ReactNode;
  onClose: () => void;
}

/** A secret that the platform shows this once. It goes away only after one has said that one has it. */
export function SecretOnce({ title, secret, lost, children, onClose }: SecretOnceProps): ReactNode {
  const t = useTranslations('ui');
  const [kept, setKept] = useState(secret === null);
  return (
    <Dialog open title={title}>
      <Note tone="warn">{secret === null ? lost : t('secretOnce')}</Note>
      {secret !== null && (
        <>
          <Code text={secret} label={title} />
          {children !== undefined && <div className="text-soft">{children}</div>}
          <Checkbox
            label={t('secretKept')}
            checked={kept}
            onChange={({ target }) => setKept(target.checked)}
          />
        </>
      )}
      <DialogActions>
        <Button look="main" disabled={!kept} onClick={onClose}>
          {t('done')}
        </Button>
      </DialogActions>
    </Dialog>
  );
}
