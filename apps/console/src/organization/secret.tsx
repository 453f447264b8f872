import { useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { Button } from '../ui/button.tsx';
import { Dialog, DialogActions } from '../ui/dialog.tsx';
import { Checkbox } from '../ui/form.tsx';
import { Code } from '../ui/json.tsx';
import { Note } from '../ui/notices.tsx';

interface SecretProps {
  title: string;
  /** Undefined: nothing is shown. Null: the answer got lost, and the platform does not tell it twice. */
  secret: string | null | undefined;
  lost: string;
  onKept: () => void;
}

/** What is told once, in front of everything until somebody has said to have kept it. */
export function Secret({ title, secret, lost, onKept }: SecretProps): ReactNode {
  return (
    <Dialog open={secret !== undefined} title={title}>
      <Kept title={title} secret={secret ?? null} lost={lost} onKept={onKept} />
    </Dialog>
  );
}

function Kept({ title, secret, lost, onKept }: SecretProps): ReactNode {
  const t = useTranslations('organization');
  const [kept, setKept] = useState(secret === null);
  return (
    <>
      <Note tone="warn">{secret === null ? lost : t('secretOnce')}</Note>
      {secret != null && (
        <>
          <Code label={title} text={secret} />
          <Checkbox label={t('kept')} checked={kept} onChange={(event) => setKept(event.target.checked)} />
        </>
      )}
      <DialogActions>
        <Button look="main" disabled={!kept} onClick={onKept}>
          {t('done')}
        </Button>
      </DialogActions>
    </>
  );
}
