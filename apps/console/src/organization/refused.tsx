import { ProblemError } from '@customer-platform/client';
import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { Failure, Note } from '../ui/notices.tsx';

/** What was refused, in words where the reason is one of this page's; else as the API says it. */
export function Refused({ error }: { error: unknown }): ReactNode {
  const t = useTranslations('organization');
  if (error == null) return null;
  const key =
    error instanceof ProblemError ? (`refused.${error.code}` as 'refused.last_administrator') : undefined;
  if (key === undefined || !t.has(key)) return <Failure error={error} />;
  const missing = missingOf(error);
  return (
    <Note tone="warn">
      <p>{t(key)}</p>
      {missing.length > 0 && (
        <ul className="mt-2 flex max-h-40 flex-col overflow-y-auto font-mono text-xs">
          {missing.map((permission) => (
            <li key={permission}>{permission}</li>
          ))}
        </ul>
      )}
    </Note>
  );
}

/** What the caller would have to hold to give it. */
function missingOf(error: unknown): string[] {
  const { missing } = (error instanceof ProblemError ? error.body : {}) as { missing?: unknown };
  return Array.isArray(missing) ? missing.filter((each) => typeof each === 'string') : [];
}
