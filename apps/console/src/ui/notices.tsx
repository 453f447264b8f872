import { ProblemError } from '@customer-platform/client';
import { CircleAlert, Inbox, LockKeyhole } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { Button } from './button.tsx';
import { CopyButton } from './copy-button.tsx';
import { EnglishDetail, FaultText, useReasonOf } from './problem-words.tsx';

/** A place where something could be, and is not yet: what it would show, and the one step that fills it. */
export function Empty({ title, children }: { title: string; children?: ReactNode }): ReactNode {
  return (
    <div className="flex flex-col items-center gap-3 rounded-panel border border-dashed border-line px-4 py-12 text-center">
      <Inbox aria-hidden className="size-6 text-soft" />
      <p className="font-medium">{title}</p>
      {children !== undefined && <div className="max-w-[60ch] text-soft">{children}</div>}
    </div>
  );
}

/** Where there is something, and filters let none of it through. */
export function NothingMatches(): ReactNode {
  const t = useTranslations('ui');
  return <Empty title={t('nothingMatches')} />;
}

/** A page without the permission that it takes. */
export function Forbidden({ permission }: { permission: string }): ReactNode {
  const t = useTranslations('ui');
  return (
    <div role="alert" className="flex flex-col items-center gap-3 px-4 py-16 text-center">
      <LockKeyhole aria-hidden className="size-6 text-soft" />
      <p className="font-medium">{t('forbidden')}</p>
      {permission !== '' && <p className="text-soft">{t('forbiddenBy', { permission })}</p>}
    </div>
  );
}

/** What went wrong, what to do, and the correlation id to copy. */
export function Failure({ error, again }: { error: unknown; again?: () => void }): ReactNode {
  const t = useTranslations('ui');
  const reasonOf = useReasonOf();
  const problem = error instanceof ProblemError ? error : undefined;
  if (problem?.code === 'permission_denied') return <Forbidden permission={missingOf(problem)} />;
  if (problem?.code === 'route_not_found') return <Empty title={t('notYet')} />;
  const id = problem?.correlationId;
  return (
    <div role="alert" className="flex flex-wrap items-start gap-3 rounded-panel bg-bad-soft p-4 text-bad">
      <CircleAlert aria-hidden className="mt-0.5 size-4 shrink-0" />
      <div className="min-w-0 grow basis-60">
        <p className="font-medium">{reasonOf(error)}</p>
        {problem?.detail !== undefined && (
          <p>
            <EnglishDetail detail={problem.detail} />
          </p>
        )}
        {problem?.code === 'privilege_escalation' && (
          <p>
            <code className="font-mono text-xs">{missingOf(problem)}</code>
          </p>
        )}
        {problem?.errors.map(({ pointer, parameter, code, detail }) => (
          <p key={`${pointer ?? parameter ?? ''}${detail}`}>
            <code className="font-mono text-xs">{pointer ?? parameter}</code>{' '}
            <FaultText fault={{ code, detail }} />
          </p>
        ))}
        {id !== undefined && (
          <p className="mt-1 flex flex-wrap items-center gap-1 text-xs">
            {t('correlation')} <code className="font-mono">{id}</code>
            <CopyButton text={id} />
          </p>
        )}
      </div>
      {again !== undefined && <Button onClick={again}>{t('again')}</Button>}
    </div>
  );
}

/** A quiet sentence inside a page: something is partly missing, or worth knowing. */
export function Note({
  tone = 'neutral',
  unsent = false,
  children,
}: {
  tone?: 'neutral' | 'warn' | 'good' | 'bad';
  /** Says why a form was not taken as it is: what is written there is still unsaved. */
  unsent?: boolean;
  children: ReactNode;
}): ReactNode {
  const look = {
    neutral: 'bg-ground',
    warn: 'bg-warn-soft text-warn',
    good: 'bg-good-soft text-good',
    bad: 'bg-bad-soft text-bad',
  }[tone];
  return (
    <div role="status" data-unsent={unsent || undefined} className={`rounded-panel px-4 py-3 ${look}`}>
      {children}
    </div>
  );
}

function missingOf({ body, detail }: ProblemError): string {
  const { missing, permission } = body as { missing?: string[]; permission?: string };
  return permission ?? missing?.join(', ') ?? detail ?? '';
}
