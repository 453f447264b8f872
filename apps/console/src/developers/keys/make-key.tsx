import { useMutation } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../../api/api.tsx';
import { useMay } from '../../session/use-session.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';
import { Select, TextField } from '../../ui/form.tsx';
import { Failure, Forbidden } from '../../ui/notices.tsx';
import { SecretOnce } from '../../ui/secret-once.tsx';
import { isAtFields, problemAt } from '../../ui/problem-at.ts';
import { useReadAnew } from '../../ui/queries.ts';
import { endOf, LIVES, type Life } from './expiry.ts';
import { isRole, KeyRole, type KeyRoleDraft } from './key-role.tsx';
import { useKeysChanged } from './use-keys.ts';
import { useMachineRoles } from './use-roles.ts';

const NEW = 'new';
const FIELDS = ['/name', '/role_id', '/expires_at', '/permissions'];

interface KeyDraft {
  name: string;
  roleId: string;
  life: Life;
  role: KeyRoleDraft;
}

/** The built-in role that may send events and nothing else: most keys are made for that. */
const USUAL_ROLE = 'ingest';

const EMPTY: KeyDraft = { name: '', roleId: '', life: '365', role: { name: '', permissions: [] } };

/** A new key, with a role that is there or one that is made for it. */
export function MakeKey({ onClose }: { onClose: () => void }): ReactNode {
  const t = useTranslations('developers');
  const may = useMay();
  const [typed, setDraft] = useState(EMPTY);
  const roles = useMachineRoles();
  const usual = roles?.find(({ key }) => key === USUAL_ROLE)?.id ?? '';
  const draft = { ...typed, roleId: typed.roleId === '' ? usual : typed.roleId };
  const { data, error, isPending, mutate } = useMakeKey((roleId) => setDraft({ ...draft, roleId }));
  if (data !== undefined) {
    return (
      <SecretOnce
        title={t('keys.made', { name: data.name })}
        secret={data.key ?? null}
        lost={t('keys.lost')}
        onClose={onClose}
      >
        {t('keys.use')}
      </SecretOnce>
    );
  }
  return (
    <Dialog open onClose={onClose} title={t('keys.make')} lead={t('keys.makeLead')}>
      {may('identity.roles.read') ? (
        <form
          className="flex flex-col gap-4"
          onSubmit={(event) => {
            event.preventDefault();
            mutate(draft);
          }}
        >
          {error !== null && !isAtFields(error, FIELDS) && <Failure error={error} />}
          <KeyFields draft={draft} onChange={(change) => setDraft({ ...draft, ...change })} error={error} />
          <DialogActions>
            <Button onClick={onClose}>{t('cancel')}</Button>
            <Button look="main" type="submit" busy={isPending} disabled={!isReady(draft)}>
              {t('keys.make')}
            </Button>
          </DialogActions>
        </form>
      ) : (
        <Forbidden permission="identity.roles.read" />
      )}
    </Dialog>
  );
}

function isReady({ name, roleId, role }: KeyDraft): boolean {
  return name.trim() !== '' && (roleId === NEW ? isRole(role) : roleId !== '');
}

/** `onRole` is told the role that was made: where the key then fails, the next try makes no second one. */
function useMakeKey(onRole: (id: string) => void) {
  const api = useApi();
  const changed = useKeysChanged();
  const rolesChanged = useReadAnew('organization');
  // Of one moment for the whole dialog: a second press after a lost answer asks for the same key.
  const [from] = useState(() => new Date());
  return useMutation({
    mutationFn: async ({ name, roleId, life, role }: KeyDraft) => {
      let role_id = roleId;
      if (roleId === NEW) {
        const body = { kind: 'machine', name: role.name.trim(), permissions: role.permissions } as const;
        role_id = (await api.POST('/v1/identity/roles', { body })).data.id;
        await rolesChanged();
        onRole(role_id);
      }
      const body = { name: name.trim(), role_id, expires_at: endOf(life, from) };
      return (await api.POST('/v1/identity/api-keys', { body })).data;
    },
    onSuccess: changed,
  });
}

interface KeyFieldsProps {
  draft: KeyDraft;
  onChange: (change: Partial<KeyDraft>) => void;
  error: unknown;
}

function KeyFields({ draft, onChange, error }: KeyFieldsProps): ReactNode {
  const t = useTranslations('developers');
  const may = useMay();
  const roles = useMachineRoles();
  const options = [
    { value: '', label: roles === undefined ? t('loading') : t('keys.chooseRole') },
    ...(roles ?? []).map(({ id, name }) => ({ value: id, label: name })),
    ...(may('identity.roles.create') ? [{ value: NEW, label: t('keys.newRole') }] : []),
  ];
  const chosen = roles?.find(({ id }) => id === draft.roleId);
  const held = chosen?.permissions.slice(0, 12).join(', ');
  return (
    <>
      <TextField
        label={t('name')}
        hint={t('keys.nameHint')}
        required
        maxLength={80}
        value={draft.name}
        error={draft.roleId === NEW ? undefined : problemAt(error, '/name', true)}
        onChange={({ target }) => onChange({ name: target.value })}
      />
      <Select
        label={t('keys.role')}
        hint={held}
        value={draft.roleId}
        error={problemAt(error, '/role_id', true)}
        onChange={({ target }) => onChange({ roleId: target.value })}
        options={options}
      />
      {draft.roleId === NEW && (
        <KeyRole draft={draft.role} onChange={(role) => onChange({ role })} error={error} />
      )}
      <Select
        label={t('keys.ends')}
        value={draft.life}
        error={problemAt(error, '/expires_at', true)}
        onChange={({ target }) => onChange({ life: LIVES.find((life) => life === target.value) ?? '365' })}
        options={LIVES.map((value) => ({ value, label: t(`keys.lives.d${value}`) }))}
      />
    </>
  );
}
