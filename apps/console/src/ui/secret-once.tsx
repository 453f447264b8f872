import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { Button } from './button.tsx';
import { Dialog, DialogActions } from './dialog.tsx';
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

/** A secret that the platform shows this once. It goes away by the button alone that says that one has it. */
export function SecretOnce({ title, secret, lost, children, onClose }: SecretOnceProps): ReactNode {
  const t = useTranslations('ui');
  return (
    <Dialog open title={title}>
      <Note tone="warn">{secret === null ? lost : t('secretOnce')}</Note>
      {secret !== null && (
        <>
          <div data-shown-once>
            <Code text={secret} label={title} />
          </div>
          {children !== undefined && <div className="text-soft">{children}</div>}
        </>
      )}
      <DialogActions>
        <Button look="main" onClick={onClose}>
          {t(secret === null ? 'done' : 'secretKept')}
        </Button>
      </DialogActions>
    </Dialog>
  );
}
