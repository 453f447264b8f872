import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState, type FormEvent, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import type { BodyOf } from '@customer-platform/client';
import { useApi } from '../api/api.tsx';
import { useMay, usePerson } from '../session/use-session.tsx';
import { Button } from '../ui/button.tsx';
import { Select } from '../ui/form.tsx';
import { Forbidden } from '../ui/notices.tsx';
import { Section } from '../ui/page.tsx';
import { useSay } from '../ui/toasts.tsx';
import { PermissionMatrix } from './permission-matrix.tsx';
import { Refused } from './refused.tsx';
import { RoleNames, type RoleDraft } from './role-names.tsx';
import { useChanged } from './use-acts.tsx';
import { usePermissions } from './use-permissions.ts';

const EMPTY: RoleDraft = { name: '', description: '' };

export function NewRole(): ReactNode {
  const t = useTranslations('organization');
  const may = useMay();
  const [draft, setDraft] = useState(EMPTY);
  const [kind, setKind] = useState<'human' | 'machine'>('human');
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const permissions = usePermissions();
  const make = useMaking();
  if (!may('identity.roles.create')) return <Forbidden permission="identity.roles.create" />;
  const send = (event: FormEvent): void => {
    event.preventDefault();
    const { name, description } = draft;
    make.mutate({
      name: name.trim(),
      description: description.trim() === '' ? null : description.trim(),
      kind,
      permissions: [...chosen] as BodyOf<'post', '/v1/identity/roles'>['permissions'],
    });
  };
  return (
    <form onSubmit={send} className="flex flex-col gap-6">
      <Section title={t('newRole')} lead={t('newRoleLead')}>
        <RoleNames draft={draft} onChange={setDraft} error={make.error}>
          <Select
            label={t('kind')}
            hint={t('kindHint')}
            value={kind}
            options={(['human', 'machine'] as const).map((value) => ({ value, label: t(`kinds.${value}`) }))}
            onChange={(event) => setKind(event.target.value === 'machine' ? 'machine' : 'human')}
          />
        </RoleNames>
      </Section>
      <PermissionMatrix permissions={permissions} chosen={chosen} onChange={setChosen} />
      <Refused error={make.error} />
      <div>
        <Button type="submit" look="main" busy={make.isPending}>
          {t('makeRole', { count: chosen.size })}
        </Button>
      </div>
    </form>
  );
}

function useMaking() {
  const t = useTranslations('organization');
  const api = useApi();
  const { organization } = usePerson();
  const navigate = useNavigate();
  const changed = useChanged();
  const say = useSay();
  return useMutation({
    mutationFn: async (body: BodyOf<'post', '/v1/identity/roles'>) =>
      (await api.POST('/v1/identity/roles', { body })).data,
    onSuccess: async ({ id }) => {
      say(t('roleMade'));
      await changed();
      const params = { organization: organization.slug, role: id };
      await navigate({ to: '/o/$organization/organization/roles/$role', params, replace: true });
    },
  });
}
