import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';

export function NotFound(): ReactNode {
  const t = useTranslations('shell');
  return (
    <div className="flex flex-col items-center gap-3 px-4 py-24 text-center">
      <h1 className="text-xl font-[650]">{t('notFound')}</h1>
      <p className="text-soft">{t('notFoundLead')}</p>
      <Link to="/" className="text-accent underline">
        {t('toHome')}
      </Link>
    </div>
  );
}
