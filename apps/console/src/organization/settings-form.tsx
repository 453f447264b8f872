import { useState, type FormEvent, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { useMay } from '../session/use-session.tsx';
import { Button } from '../ui/button.tsx';
import { Select, TextField } from '../ui/form.tsx';
import { NumberField } from '../ui/number-field.tsx';
import { Section } from '../ui/page.tsx';
import { problemAt } from '../ui/problem-at.ts';
import { changeOf, draftOf, MFA_POLICIES, type OrganizationRow, type SettingsDraft } from './settings.ts';
import { useEdit, type Reading } from './use-edit.tsx';

interface SettingsFormProps {
  opened: Reading<OrganizationRow>;
  /** It is seen from above: what only an ancestor says can be changed. */
  fromAbove?: boolean;
  onSaved?: () => void;
}

interface PartProps {
  draft: SettingsDraft;
  set: (change: Partial<SettingsDraft>) => void;
  error: unknown;
}

export function SettingsForm({ opened, fromAbove = false, onSaved }: SettingsFormProps): ReactNode {
  const t = useTranslations('organization');
  const api = useApi();
  const may = useMay();
  const [before, setBefore] = useState(() => draftOf(opened.data));
  const [draft, setDraft] = useState(before);
  const params = { path: { id: opened.data.id } };
  const change = changeOf(before, draft);
  const edit = useEdit({
    opened,
    change,
    read: () => api.GET('/v1/identity/organizations/{id}', { params }),
    write: async (body: ReturnType<typeof changeOf>, ifMatch) => {
      const written = await api.PATCH('/v1/identity/organizations/{id}', { params, body, ifMatch });
      setBefore(draftOf(written.data));
      setDraft(draftOf(written.data));
      return written;
    },
    onSaved: () => onSaved?.(),
    onTheirs: (now) => {
      setBefore(draftOf(now));
      setDraft(draftOf(now));
    },
    done: t('settingsSaved'),
  });
  const send = (event: FormEvent): void => {
    event.preventDefault();
    edit.save();
  };
  const part: PartProps = { draft, set: (more) => setDraft({ ...draft, ...more }), error: edit.error };
  const mayUpdate = may('identity.organizations.update');
  return (
    <form onSubmit={send} className="flex max-w-3xl flex-col gap-8">
      <fieldset disabled={!mayUpdate} className="contents">
        <Names {...part} />
        <Branding {...part} />
        <SignIn {...part} />
        <Limits {...part} fromAbove={fromAbove} />
      </fieldset>
      {edit.shown}
      {mayUpdate && (
        <div>
          <Button type="submit" look="main" busy={edit.busy} disabled={Object.keys(change).length === 0}>
            {t('save')}
          </Button>
        </div>
      )}
    </form>
  );
}

function Names({ draft, set, error }: PartProps): ReactNode {
  const t = useTranslations('organization');
  const zones = Intl.supportedValuesOf('timeZone');
  const all = zones.includes(draft.timezone) ? zones : [draft.timezone, ...zones];
  return (
    <Section title={t('general')}>
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField
          label={t('name')}
          required
          maxLength={80}
          value={draft.name}
          error={problemAt(error, '/name')}
          onChange={(event) => set({ name: event.target.value })}
        />
        <TextField
          label={t('locale')}
          hint={t('localeHint')}
          required
          value={draft.locale}
          error={problemAt(error, '/locale')}
          onChange={(event) => set({ locale: event.target.value })}
        />
        <Select
          label={t('timezone')}
          value={draft.timezone}
          options={all.map((zone) => ({ value: zone, label: zone }))}
          error={problemAt(error, '/timezone')}
          onChange={(event) => set({ timezone: event.target.value })}
        />
      </div>
    </Section>
  );
}

const COLOR = /^#[0-9a-f]{6}$/i;

function Branding({ draft, set, error }: PartProps): ReactNode {
  const t = useTranslations('organization');
  const known = COLOR.test(draft.color);
  return (
    <Section title={t('branding')} lead={t('brandingLead')}>
      <div className="grid gap-4 sm:grid-cols-2">
        <div className="flex items-end gap-2">
          <div className="grow">
            <TextField
              label={t('color')}
              hint={t('colorHint')}
              pattern="#[0-9a-fA-F]{6}"
              placeholder="#1d4ed8"
              value={draft.color}
              error={problemAt(error, '/settings/branding/color')}
              onChange={(event) => set({ color: event.target.value })}
            />
          </div>
          <span
            aria-hidden
            className="mb-5.5 size-9 shrink-0 rounded-control border border-edge"
            style={known ? { background: draft.color } : {}}
          />
        </div>
        <TextField
          label={t('logo')}
          hint={t('logoHint')}
          type="url"
          pattern="https://.*"
          maxLength={500}
          value={draft.logo}
          error={problemAt(error, '/settings/branding/logo_url')}
          onChange={(event) => set({ logo: event.target.value })}
        />
      </div>
    </Section>
  );
}

function SignIn({ draft, set, error }: PartProps): ReactNode {
  const t = useTranslations('organization');
  return (
    <Section title={t('signIn')}>
      <div className="grid gap-4 sm:grid-cols-3">
        <Select
          label={t('mfaPolicy')}
          hint={t(`mfaHint.${draft.mfa}`)}
          value={draft.mfa}
          error={problemAt(error, '/settings/mfa_policy')}
          options={MFA_POLICIES.map((value) => ({ value, label: t(`mfa.${value}`) }))}
          onChange={(event) => {
            const mfa = MFA_POLICIES.find((value) => value === event.target.value);
            if (mfa !== undefined) set({ mfa });
          }}
        />
        <NumberField
          label={t('idle')}
          hint={t('idleHint')}
          min={5}
          max={60}
          value={draft.idleMinutes}
          error={problemAt(error, '/settings/session/idle_minutes')}
          onChange={(idleMinutes) => set({ idleMinutes })}
        />
        <NumberField
          label={t('absolute')}
          hint={t('absoluteHint')}
          min={1}
          max={24}
          value={draft.absoluteHours}
          error={problemAt(error, '/settings/session/absolute_hours')}
          onChange={(absoluteHours) => set({ absoluteHours })}
        />
      </div>
    </Section>
  );
}

function Limits({ draft, set, error, fromAbove }: PartProps & { fromAbove: boolean }): ReactNode {
  const t = useTranslations('organization');
  return (
    <Section title={t('limits')} lead={fromAbove ? t('limitsLead') : t('limitsFromAbove')}>
      <div className="grid gap-4 sm:grid-cols-2">
        <NumberField
          label={t('keyRate')}
          min={1}
          max={100_000}
          readOnly={!fromAbove}
          value={draft.keyRate}
          error={problemAt(error, '/settings/rate_limits/key_per_second')}
          onChange={(keyRate) => set({ keyRate })}
        />
        <NumberField
          label={t('organizationRate')}
          min={1}
          max={100_000}
          readOnly={!fromAbove}
          value={draft.organizationRate}
          error={problemAt(error, '/settings/rate_limits/organization_per_second')}
          onChange={(organizationRate) => set({ organizationRate })}
        />
      </div>
    </Section>
  );
}
