import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { Checkbox, TextArea, TextField } from '../ui/form.tsx';
import { problemAt } from '../ui/problem-at.ts';
import type { ConnectionDraft } from './connection.ts';
import { useRoles } from './people.ts';
import { RolePicker } from './role-picker.tsx';

interface FieldsProps {
  draft: ConnectionDraft;
  set: (change: Partial<ConnectionDraft>) => void;
  error: unknown;
  /** One that is made needs its secret; of one that is there it is replaced only if it is written. */
  isNew?: boolean;
}

export function ConnectionFields({ draft, set, error, isNew = false }: FieldsProps): ReactNode {
  const t = useTranslations('organization');
  return (
    <>
      <TextField
        label={t('name')}
        required
        maxLength={80}
        value={draft.name}
        error={problemAt(error, '/name')}
        onChange={(event) => set({ name: event.target.value })}
      />
      <TextField
        label={t('issuer')}
        hint={t('issuerHint')}
        type="url"
        required
        maxLength={2048}
        value={draft.issuer}
        error={problemAt(error, '/issuer')}
        onChange={(event) => set({ issuer: event.target.value })}
      />
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField
          label={t('clientIdThere')}
          required
          maxLength={255}
          value={draft.clientId}
          error={problemAt(error, '/client_id')}
          onChange={(event) => set({ clientId: event.target.value })}
        />
        <TextField
          label={t('clientSecretThere')}
          hint={isNew ? t('secretNeverShown') : t('secretKept')}
          type="password"
          autoComplete="new-password"
          required={isNew}
          maxLength={1024}
          value={draft.clientSecret}
          error={problemAt(error, '/client_secret')}
          onChange={(event) => set({ clientSecret: event.target.value })}
        />
      </div>
      <TextArea
        label={t('domains')}
        hint={t('domainsHint')}
        required
        rows={2}
        spellCheck={false}
        placeholder="example.com"
        value={draft.domains}
        error={problemAt(error, '/domains')}
        onChange={(event) => set({ domains: event.target.value })}
      />
      <Checkbox
        label={t('enforced')}
        checked={draft.enforced}
        onChange={(event) => set({ enforced: event.target.checked })}
      />
      <JustInTime draft={draft} set={set} />
    </>
  );
}

function JustInTime({ draft, set }: Pick<FieldsProps, 'draft' | 'set'>): ReactNode {
  const t = useTranslations('organization');
  // The owner's is not given to whoever signs in first.
  const roles = useRoles().filter(({ kind, key }) => kind === 'human' && key !== 'owner');
  return (
    <>
      <Checkbox
        label={t('jit')}
        checked={draft.jit}
        onChange={(event) => set({ jit: event.target.checked })}
      />
      {draft.jit && (
        <RolePicker
          label={t('jitRoles')}
          roles={roles}
          chosen={draft.jitRoleIds}
          onChange={(jitRoleIds) => set({ jitRoleIds })}
        />
      )}
    </>
  );
}
