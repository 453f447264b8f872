import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useMay } from '../../session/use-session.tsx';
import { Checkbox, TextField } from '../../ui/form.tsx';
import { problemAt } from '../../ui/problem-at.ts';
import { FaultText } from '../../ui/problem-words.tsx';

/** What most programs need; the matrix of roles has every permission. */
const OFFERED = [
  'core.events.write',
  'core.contacts.write',
  'core.contacts.read',
  'core.events.read',
  'core.consents.write',
  'core.members.exchange',
  'core.jobs.read',
  'core.usage.read',
  'crm.timeline.read',
  'messaging.sends.create',
  'messaging.sends.read',
  'loyalty.transactions.read',
] as const;

export interface KeyRoleDraft {
  name: string;
  permissions: string[];
}

export function isRole({ name, permissions }: KeyRoleDraft): boolean {
  return name.trim() !== '' && permissions.length > 0;
}

interface KeyRoleProps {
  draft: KeyRoleDraft;
  onChange: (draft: KeyRoleDraft) => void;
  error: unknown;
}

/** A machine role of a few permissions; of those that one holds oneself, for nobody gives more. */
export function KeyRole({ draft, onChange, error }: KeyRoleProps): ReactNode {
  const t = useTranslations('developers');
  const may = useMay();
  const { permissions } = draft;
  const toggled = (permission: string, on: boolean): string[] =>
    on ? [...permissions, permission] : permissions.filter((each) => each !== permission);
  const refused = problemAt(error, '/permissions', true);
  return (
    <div className="flex flex-col gap-4 rounded-panel border border-line p-4">
      <TextField
        label={t('keys.roleName')}
        required
        maxLength={80}
        value={draft.name}
        error={problemAt(error, '/name', true)}
        onChange={({ target }) => onChange({ ...draft, name: target.value })}
      />
      <fieldset className="flex flex-col gap-1">
        <legend className="mb-1 text-xs font-medium">{t('keys.mayDo')}</legend>
        {OFFERED.filter(may).map((permission) => (
          <Checkbox
            key={permission}
            checked={permissions.includes(permission)}
            onChange={({ target }) =>
              onChange({ ...draft, permissions: toggled(permission, target.checked) })
            }
            label={
              <>
                {t(`permission.${nameOf(permission)}`)}{' '}
                <code className="font-mono text-xs text-soft">{permission}</code>
              </>
            }
          />
        ))}
      </fieldset>
      {refused !== undefined && (
        <p className="text-xs text-bad">
          <FaultText fault={refused} />
        </p>
      )}
    </div>
  );
}

type Offered = (typeof OFFERED)[number];
type Underscored<Text extends string> = Text extends `${infer Head}.${infer Rest}`
  ? `${Head}_${Underscored<Rest>}`
  : Text;

/** Texts are named without dots: a dot there leads into a group. */
function nameOf<Permission extends Offered>(permission: Permission): Underscored<Permission> {
  return permission.replaceAll('.', '_') as Underscored<Permission>;
}
