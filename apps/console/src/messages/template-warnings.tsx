import type { Schemas } from '@customer-platform/client';
import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';

type Warning = Schemas['TemplateWarningDto'];

/** What readers may stumble over, each with its place. */
export function TemplateWarnings({ warnings }: { warnings: readonly Warning[] }): ReactNode {
  const t = useTranslations('messages');
  if (warnings.length === 0) return <p className="text-soft">{t('noWarnings')}</p>;
  return (
    <div role="status" className="rounded-panel bg-warn-soft px-4 py-3 text-warn">
      <h3 className="font-medium">{t('warningsTitle', { count: warnings.length })}</h3>
      <ul className="mt-1 flex list-disc flex-col gap-1 pl-5">
        {warnings.map((warning, at) => (
          <li key={at} className="min-w-0 break-words">
            <Said warning={warning} />
          </li>
        ))}
      </ul>
    </div>
  );
}

/** In the reader's language; what a later API warns of in the API's own words. */
function Said({ warning: { code, detail, where } }: { warning: Warning }): ReactNode {
  const t = useTranslations('messages');
  const [, what] = /`([^`]*)`/.exec(detail) ?? [];
  const [, more] = /^The same (\d+) times more/.exec(detail) ?? [];
  const key = `warnings.${code}` as 'warnings.html_clipped';
  if (!t.has(key)) return detail;
  return (
    <>
      {t(key)}
      {what !== undefined && what !== '' && (
        <>
          {' '}
          <code className="font-mono text-xs break-all">{what}</code>
        </>
      )}
      {more !== undefined && ` ${t('timesMore', { count: Number(more) })}`}
      {where !== null && <Place part={where.part} line={where.line} />}
    </>
  );
}

function Place({ part, line }: { part: string; line: number | null }): ReactNode {
  const t = useTranslations('messages');
  const key = `parts.${part}` as 'parts.subject';
  const named = t.has(key) ? t(key) : part;
  return ` (${line === null ? named : t('partAtLine', { part: named, line })})`;
}
