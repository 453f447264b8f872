import type { ErrorComponentProps } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { Button } from '../ui/button.tsx';
import { Failure } from '../ui/notices.tsx';

/** In place of a page, or of a part of one, that could not be loaded or drawn. What is around it stays. */
export function PageFailure({ error }: Pick<ErrorComponentProps, 'error'>): ReactNode {
  const t = useTranslations('shell');
  return (
    <div className="flex flex-col items-start gap-3 p-4 md:p-8">
      <Failure error={error} />
      <Button onClick={() => window.location.reload()}>{t('reload')}</Button>
    </div>
  );
}
