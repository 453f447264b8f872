import type { BodyOf } from '@customer-platform/client';
import { useNavigate } from '@tanstack/react-router';
import { useState, type FormEvent, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { useMay, usePerson } from '../session/use-session.tsx';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { Note } from '../ui/notices.tsx';
import { Section } from '../ui/page.tsx';
import { changesOf } from './matrix.ts';
import { PermissionMatrix } from './permission-matrix.tsx';
import type { Role } from './people.ts';
import { Removal } from './removal.tsx';
import { RoleNames } from './role-names.tsx';
import { useActs } from './use-acts.tsx';
import { useEdit, type Reading } from './use-edit.tsx';
import { usePermissions } from './use-permissions.ts';

interface Change {
  names: BodyOf<'patch', '/v1/identity/roles/{id}'> | undefined;
  permissions: ReadonlySet<string> | undefined;
}

/** What a role permits. What a change gives and takes is said before it is saved. */
export function RoleForm({ opened }: { opened: Reading<Role> }): ReactNode {
  const t = useTranslations('organization');
  const may = useMay();
  const permissions = usePermissions();
  const role = opened.data;
  const draftOf = ({ name, description }: Role) => ({ name, description: description ?? '' });
  const [draft, setDraft] = useState(draftOf(role));
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set(role.permissions));
  const { added, removed } = changesOf(new Set(role.permissions), chosen);
  const renamed = draft.name !== role.name || draft.description !== (role.description ?? '');
  const change: Change = {
    names: renamed ? { name: draft.name.trim(), description: draft.description.trim() || null } : undefined,
    permissions: added.length + removed.length > 0 ? chosen : undefined,
  };
  const edit = useSaving(opened, change, (now) => {
    setDraft(draftOf(now));
    setChosen(new Set(now.permissions));
  });
  const changeable = !role.built_in && role.deleted_at === null && may('identity.roles.update');
  const send = (event: FormEvent): void => {
    event.preventDefault();
    edit.save();
  };
  return (
    <form onSubmit={send} className="flex flex-col gap-6">
      <Section title={role.name} actions={<Ends role={role} />}>
        <p className="flex flex-wrap gap-2">
          <Badge tone="accent">{t(`kinds.${role.kind}`)}</Badge>
          {role.built_in && <Badge>{t('builtIn')}</Badge>}
          {role.deleted_at !== null && <Badge tone="warn">{t('deleted')}</Badge>}
        </p>
        {role.built_in && <Note>{t('builtInLead')}</Note>}
        <RoleNames draft={draft} onChange={setDraft} error={edit.error} readOnly={!changeable} />
      </Section>
      <PermissionMatrix
        permissions={permissions}
        chosen={chosen}
        onChange={changeable ? setChosen : undefined}
      />
      {edit.shown}
      {changeable && (
        <div className="sticky bottom-0 -mx-1 flex flex-col gap-3 border-t border-line bg-canvas px-1 py-3">
          <Changes title={t('given', { count: added.length })} names={added} sign="+" />
          <Changes title={t('taken', { count: removed.length })} names={removed} sign="−" />
          <div>
            <Button
              type="submit"
              look="main"
              busy={edit.busy}
              disabled={!renamed && added.length + removed.length === 0}
            >
              {t('save')}
            </Button>
          </div>
        </div>
      )}
    </form>
  );
}

function useSaving(opened: Reading<Role>, change: Change, onTheirs: (now: Role) => void) {
  const t = useTranslations('organization');
  const api = useApi();
  const params = { path: { id: opened.data.id } };
  return useEdit<Role, Change>({
    opened,
    change,
    read: () => api.GET('/v1/identity/roles/{id}', { params }),
    write: async ({ names, permissions }, ifMatch, wrote) => {
      let last: Reading<Role> = { ...opened, etag: ifMatch };
      if (names !== undefined) {
        last = await api.PATCH('/v1/identity/roles/{id}', { params, body: names, ifMatch });
        wrote(last);
      }
      if (permissions !== undefined) {
        type Body = BodyOf<'put', '/v1/identity/roles/{id}/permissions'>;
        const body: Body = { permissions: [...permissions] as Body['permissions'] };
        const path = '/v1/identity/roles/{id}/permissions';
        last = await api.PUT(path, { params, body, ifMatch: last.etag });
      }
      return last;
    },
    onSaved: () => undefined,
    onTheirs,
    done: t('roleSaved'),
  });
}

function Changes({
  title,
  names,
  sign,
}: {
  title: string;
  names: readonly string[];
  sign: string;
}): ReactNode {
  if (names.length === 0) return null;
  return (
    <div role="status">
      <p className="text-xs font-medium">{title}</p>
      <ul className="flex max-h-24 flex-wrap gap-x-4 overflow-y-auto font-mono text-xs">
        {names.map((name) => (
          <li key={name}>
            {sign} {name}
          </li>
        ))}
      </ul>
    </div>
  );
}

/** Deleting, and what becomes of it. */
function Ends({ role }: { role: Role }): ReactNode {
  const t = useTranslations('organization');
  const api = useApi();
  const may = useMay();
  const navigate = useNavigate();
  const { organization } = usePerson();
  const acts = useActs();
  const params = { path: { id: role.id } };
  if (role.built_in) return null;
  return (
    <div className="flex flex-wrap gap-2">
      <Removal
        name={role.name}
        deleted={role.deleted_at !== null}
        acts={acts}
        title={t('deleteRole', { name: role.name })}
        lead={t('deleteRoleLead')}
        mayDelete={may('identity.roles.delete')}
        mayPurge={may('identity.roles.purge')}
        remove={() => api.DELETE('/v1/identity/roles/{id}', { params })}
        restore={() => api.POST('/v1/identity/roles/{id}/restore', { params })}
        purge={() => api.DELETE('/v1/identity/roles/{id}/purge', { params })}
        onGone={() =>
          navigate({
            to: '/o/$organization/organization/roles',
            params: { organization: organization.slug },
          })
        }
      />
      {acts.shown}
    </div>
  );
}
