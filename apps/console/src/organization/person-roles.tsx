import { X } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { useMay } from '../session/use-session.tsx';
import { Button, IconButton } from '../ui/button.tsx';
import { Select } from '../ui/form.tsx';
import { Note } from '../ui/notices.tsx';
import { Section } from '../ui/page.tsx';
import { useRoles, type Member } from './people.ts';
import { useActs } from './use-acts.tsx';

/** The roles that a member has; given and taken one by one. */
export function PersonRoles({ member: { user, membershipId, assignments } }: { member: Member }): ReactNode {
  const t = useTranslations('organization');
  const may = useMay();
  const api = useApi();
  const roles = useRoles();
  const { act, busy, shown } = useActs();
  if (assignments === undefined) return <Note>{t('rolesNotReadable')}</Note>;
  if (membershipId === undefined || user.deleted_at !== null) return null;
  const give = (roleId: string) => ({
    run: () =>
      api.POST('/v1/identity/role-assignments', { body: { membership_id: membershipId, role_id: roleId } }),
    done: t('roleGiven'),
  });
  const take = (id: string, roleId: string) => ({
    run: () => api.DELETE('/v1/identity/role-assignments/{id}', { params: { path: { id } } }),
    done: t('roleTaken'),
    undo: give(roleId),
  });
  const free = roles.filter(
    ({ id, kind }) => kind === 'human' && !assignments.some(({ roleId }) => roleId === id),
  );
  return (
    <Section title={t('parts.roles')}>
      {assignments.length === 0 && <p className="text-soft">{t('noRolesLead')}</p>}
      <ul className="flex flex-col divide-y divide-line rounded-panel border border-line empty:hidden">
        {assignments.map(({ id, roleId }) => {
          const name = roles.find((role) => role.id === roleId)?.name ?? roleId;
          return (
            <li key={id} className="flex min-h-10 items-center gap-2 pr-1 pl-4">
              <span className="min-w-0 grow">{name}</span>
              {may('identity.roles.assign') && (
                <IconButton
                  label={t('takeRole', { role: name })}
                  disabled={busy}
                  onClick={() => act(take(id, roleId))}
                >
                  <X aria-hidden className="size-4" />
                </IconButton>
              )}
            </li>
          );
        })}
      </ul>
      {may('identity.roles.assign') && free.length > 0 && (
        <Giving roles={free} busy={busy} onGive={(roleId) => act(give(roleId))} />
      )}
      {shown}
    </Section>
  );
}

interface GivingProps {
  roles: ReturnType<typeof useRoles>;
  busy: boolean;
  onGive: (roleId: string) => void;
}

function Giving({ roles, busy, onGive }: GivingProps): ReactNode {
  const t = useTranslations('organization');
  const [chosen, setChosen] = useState('');
  const roleId = roles.some(({ id }) => id === chosen) ? chosen : '';
  return (
    <div className="flex items-end gap-2">
      <div className="grow">
        <Select
          label={t('giveRole')}
          value={roleId}
          options={[
            { value: '', label: t('choose') },
            ...roles.map(({ id, name }) => ({ value: id, label: name })),
          ]}
          onChange={(event) => setChosen(event.target.value)}
        />
      </div>
      <Button busy={busy} disabled={roleId === ''} onClick={() => onGive(roleId)}>
        {t('give')}
      </Button>
    </div>
  );
}
