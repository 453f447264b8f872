import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { Checkbox } from '../ui/form.tsx';
import type { Role } from './people.ts';

interface RolePickerProps {
  label: string;
  roles: readonly Role[];
  chosen: readonly string[];
  onChange: (chosen: readonly string[]) => void;
}

/** Any of the roles. */
export function RolePicker({ label, roles, chosen, onChange }: RolePickerProps): ReactNode {
  const t = useTranslations('organization');
  return (
    <fieldset className="flex min-w-0 flex-col gap-1">
      <legend className="mb-1 text-xs font-medium">{label}</legend>
      {roles.length === 0 && <p className="text-soft">{t('none')}</p>}
      <div className="max-h-48 overflow-y-auto rounded-control border border-line px-3 py-1 empty:hidden">
        {roles.map(({ id, name, permissions }) => (
          <Checkbox
            key={id}
            label={
              <>
                {name}{' '}
                <span className="text-xs text-soft">
                  {t('permissionCount', { count: permissions.length })}
                </span>
              </>
            }
            checked={chosen.includes(id)}
            onChange={({ target }) =>
              onChange(target.checked ? [...chosen, id] : chosen.filter((each) => each !== id))
            }
          />
        ))}
      </div>
    </fieldset>
  );
}
