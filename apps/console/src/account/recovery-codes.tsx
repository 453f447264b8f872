import { Download } from 'lucide-react';
import { useEffect, useMemo, useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { Button } from '../ui/button.tsx';
import { DialogActions } from '../ui/dialog.tsx';
import { Checkbox } from '../ui/form.tsx';
import { Code } from '../ui/json.tsx';
import { Note } from '../ui/notices.tsx';

/** Shown once: whoever goes on has said to have kept them. */
export function RecoveryCodes({
  codes,
  onKept,
}: {
  codes: readonly string[];
  onKept: () => void;
}): ReactNode {
  const t = useTranslations('account');
  const [kept, setKept] = useState(false);
  const text = codes.join('\n');
  const file = useFile(text);
  return (
    <>
      <Note tone="warn">{t('codesOnce')}</Note>
      <div data-shown-once>
        <Code label={t('recoveryCodes')} text={text} />
      </div>
      <p>
        <a
          href={file}
          download="recovery-codes.txt"
          className="inline-flex items-center gap-2 text-accent underline"
        >
          <Download aria-hidden className="size-4" />
          {t('downloadCodes')}
        </a>
      </p>
      <Checkbox label={t('kept')} checked={kept} onChange={(event) => setKept(event.target.checked)} />
      <DialogActions>
        <Button look="main" disabled={!kept} onClick={onKept}>
          {t('done')}
        </Button>
      </DialogActions>
    </>
  );
}

/** The address of a file made of a text, for as long as it is shown. */
function useFile(text: string): string {
  const address = useMemo(() => URL.createObjectURL(new Blob([text, '\n'], { type: 'text/plain' })), [text]);
  useEffect(() => () => URL.revokeObjectURL(address), [address]);
  return address;
}
