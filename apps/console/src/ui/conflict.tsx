import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { Button } from './button.tsx';

interface ConflictProps {
  /** What differs between what is stored by now and what is written here. */
  fields: readonly { name: string; theirs: string; mine: string }[];
  /** Takes over what is stored; what is written here is given up. */
  onTheirs: () => void;
  /** Stores what is written here all the same. */
  onMine: () => void;
  busy?: boolean;
}

/** For a 412: somebody else has changed the same thing meanwhile. Shows both, and lets one choose. */
export function Conflict({ fields, onTheirs, onMine, busy = false }: ConflictProps): ReactNode {
  const t = useTranslations('ui');
  return (
    <div role="alert" className="flex flex-col gap-3 rounded-panel bg-warn-soft p-4 text-warn">
      <p className="font-medium">{t('conflict')}</p>
      {fields.map(({ name, theirs, mine }) => (
        <div key={name} className="grid gap-2 md:grid-cols-2">
          <Side title={t('conflictTheirs', { name })} text={theirs} />
          <Side title={t('conflictMine', { name })} text={mine} />
        </div>
      ))}
      <div className="flex flex-wrap gap-2 text-ink">
        <Button busy={busy} onClick={onTheirs}>
          {t('takeTheirs')}
        </Button>
        <Button busy={busy} onClick={onMine}>
          {t('keepMine')}
        </Button>
      </div>
    </div>
  );
}

function Side({ title, text }: { title: string; text: string }): ReactNode {
  return (
    <div className="min-w-0">
      <p className="text-xs font-medium">{title}</p>
      <pre className="max-h-60 overflow-auto rounded-control bg-canvas p-2 font-mono text-xs whitespace-pre-wrap text-ink">
        {text}
      </pre>
    </div>
  );
}
