import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { Checkbox, Select, TextArea, TextField } from '../ui/form.tsx';
import { NumberField } from '../ui/number-field.tsx';
import { problemAt } from '../ui/problem-at.ts';
import type { ClientDraft } from './client.ts';
import { chosenWith } from './matrix.ts';
import { useRoles } from './people.ts';

const GRANTS = ['authorization_code', 'refresh_token', 'client_credentials'] as const;

interface FieldsProps {
  draft: ClientDraft;
  set: (change: Partial<ClientDraft>) => void;
  error: unknown;
}

/** What can be said of a client at any time; its type is said once. */
export function ClientFields({ draft, set, error }: FieldsProps): ReactNode {
  const t = useTranslations('organization');
  const toggle = (grant: (typeof GRANTS)[number]): void =>
    set({ grants: chosenWith(draft.grants, [grant], !draft.grants.has(grant)) });
  const signsIn = draft.grants.has('authorization_code');
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
      <fieldset className="flex flex-col">
        <legend className="mb-1 text-xs font-medium">{t('grants')}</legend>
        {GRANTS.map((grant) => (
          <Checkbox
            key={grant}
            label={
              <>
                <code className="font-mono text-xs">{grant}</code>{' '}
                <span className="text-xs text-soft">{t(`grantHints.${grant}`)}</span>
              </>
            }
            checked={draft.grants.has(grant)}
            onChange={() => toggle(grant)}
          />
        ))}
      </fieldset>
      {signsIn && <SignInFields draft={draft} set={set} error={error} />}
      {draft.grants.has('client_credentials') && <MachineRole draft={draft} set={set} error={error} />}
    </>
  );
}

function SignInFields({ draft, set, error }: FieldsProps): ReactNode {
  const t = useTranslations('organization');
  return (
    <>
      <TextArea
        label={t('redirects')}
        hint={t('redirectsHint')}
        className="font-mono text-xs"
        spellCheck={false}
        required
        value={draft.redirects}
        error={problemAt(error, '/redirect_uris')}
        onChange={(event) => set({ redirects: event.target.value })}
      />
      <TextArea
        label={t('logoutRedirects')}
        hint={t('onePerLine')}
        className="font-mono text-xs"
        spellCheck={false}
        rows={2}
        value={draft.logoutRedirects}
        error={problemAt(error, '/post_logout_redirect_uris')}
        onChange={(event) => set({ logoutRedirects: event.target.value })}
      />
      <Checkbox
        label={t('pkce')}
        checked={draft.type === 'public' || draft.pkce}
        disabled={draft.type === 'public'}
        onChange={(event) => set({ pkce: event.target.checked })}
      />
      <div className="grid gap-4 sm:grid-cols-2">
        <Select
          label={t('whoSignsIn')}
          value={draft.organizations}
          options={(['own', 'tree'] as const).map((value) => ({ value, label: t(`reach.${value}`) }))}
          onChange={(event) => set({ organizations: event.target.value === 'tree' ? 'tree' : 'own' })}
        />
        <NumberField
          label={t('grace')}
          hint={t('graceHint')}
          min={0}
          max={10}
          required
          value={draft.grace}
          onChange={(grace) => set({ grace })}
        />
      </div>
    </>
  );
}

function MachineRole({ draft, set, error }: FieldsProps): ReactNode {
  const t = useTranslations('organization');
  const roles = useRoles().filter(({ kind }) => kind === 'machine');
  return (
    <Select
      label={t('machineRole')}
      hint={t('machineRoleHint')}
      required
      value={draft.roleId}
      error={problemAt(error, '/role_id')}
      options={[
        { value: '', label: t('choose') },
        ...roles.map(({ id, name }) => ({ value: id, label: name })),
      ]}
      onChange={(event) => set({ roleId: event.target.value })}
    />
  );
}
