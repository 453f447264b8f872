import type { ErrorComponentProps } from '@tanstack/react-router';
import { useEffect, useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { Button } from './button.tsx';
import { Failure, Note } from './notices.tsx';
import { isMissingFile, renew } from './missing-files.ts';

type Props = Pick<ErrorComponentProps, 'error'>;

/**
 * In place of a page that could not be loaded or drawn. What is around it stays. Where its file did not come, the whole
 * page is loaded anew by itself, once: nothing is written yet on a page that was never there.
 */
export function PageFailure({ error }: Props): ReactNode {
  const [renewing, setRenewing] = useState(() => isMissingFile(error));
  useEffect(() => {
    if (isMissingFile(error)) void renew(window).then(setRenewing);
  }, [error]);
  if (renewing) return <div aria-busy className="bones m-4 h-64 md:m-8" />;
  return <PartFailure error={error} />;
}

/** In place of a part of a page: only who looks at it knows whether the rest can go. */
export function PartFailure({ error }: Props): ReactNode {
  const t = useTranslations('shell');
  const [unreachable, setUnreachable] = useState(false);
  const isMissing = isMissingFile(error);
  const again = async (): Promise<void> => setUnreachable(!(await renew(window, true)));
  return (
    <div className="flex flex-col items-start gap-3 p-4 md:p-8">
      {isMissing ? <Note tone="warn">{t('missingFile')}</Note> : <Failure error={error} />}
      {unreachable && <p role="alert">{t('unreachableLead')}</p>}
      <Button onClick={() => void again()}>{t('reload')}</Button>
    </div>
  );
}
