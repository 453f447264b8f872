import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { TextField } from '../ui/form.tsx';
import { problemAt } from '../ui/problem-at.ts';

export interface RoleDraft {
  name: string;
  description: string;
}

interface RoleNamesProps {
  draft: RoleDraft;
  onChange: (draft: RoleDraft) => void;
  error: unknown;
  readOnly?: boolean;
  children?: ReactNode;
}

export function RoleNames({ draft, onChange, error, readOnly = false, children }: RoleNamesProps): ReactNode {
  const t = useTranslations('organization');
  return (
    <div className="grid max-w-3xl gap-4 sm:grid-cols-2">
      <TextField
        label={t('name')}
        required
        maxLength={80}
        readOnly={readOnly}
        value={draft.name}
        error={problemAt(error, '/name')}
        onChange={(event) => onChange({ ...draft, name: event.target.value })}
      />
      {children}
      <div className="sm:col-span-2">
        <TextField
          label={t('description')}
          maxLength={500}
          readOnly={readOnly}
          value={draft.description}
          error={problemAt(error, '/description')}
          onChange={(event) => onChange({ ...draft, description: event.target.value })}
        />
      </div>
    </div>
  );
}
