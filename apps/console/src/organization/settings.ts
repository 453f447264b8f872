import type { BodyOf, DataOf } from '@customer-platform/client';

export type OrganizationRow = DataOf<'get', '/v1/identity/organizations/{id}'>;
type Change = BodyOf<'patch', '/v1/identity/organizations/{id}'>;

export const MFA_POLICIES = ['optional', 'owners', 'required'] as const;

/** The settings as a form holds them: texts, however wrong they are for the moment. */
export interface SettingsDraft {
  name: string;
  locale: string;
  timezone: string;
  color: string;
  logo: string;
  mfa: (typeof MFA_POLICIES)[number];
  idleMinutes: string;
  absoluteHours: string;
  keyRate: string;
  organizationRate: string;
}

export function draftOf({ name, locale, timezone, settings }: OrganizationRow): SettingsDraft {
  const { branding, mfa_policy: mfa, session, rate_limits: limits } = settings;
  const text = (value: string | number | null | undefined): string => (value == null ? '' : String(value));
  return {
    name,
    locale,
    timezone,
    color: text(branding?.color),
    logo: text(branding?.logo_url),
    mfa: mfa ?? 'optional',
    idleMinutes: text(session?.idle_minutes),
    absoluteHours: text(session?.absolute_hours),
    keyRate: text(limits?.key_per_second),
    organizationRate: text(limits?.organization_per_second),
  };
}

/** What of it was changed, as the API takes it. What is empty goes back to what holds by default. */
export function changeOf(before: SettingsDraft, draft: SettingsDraft): Change {
  const changed = (...fields: (keyof SettingsDraft)[]): boolean =>
    fields.some((field) => draft[field] !== before[field]);
  const number = (text: string): number | null => (text.trim() === '' ? null : Number(text));
  const orNull = (text: string): string | null => (text.trim() === '' ? null : text.trim());
  const settings: NonNullable<Change['settings']> = {
    ...(changed('color', 'logo') && {
      branding: { color: orNull(draft.color), logo_url: orNull(draft.logo) },
    }),
    ...(changed('mfa') && { mfa_policy: draft.mfa }),
    ...(changed('idleMinutes', 'absoluteHours') && {
      session: { idle_minutes: number(draft.idleMinutes), absolute_hours: number(draft.absoluteHours) },
    }),
    ...(changed('keyRate', 'organizationRate') && {
      rate_limits: {
        key_per_second: number(draft.keyRate),
        organization_per_second: number(draft.organizationRate),
      },
    }),
  };
  return {
    ...(changed('name') && { name: draft.name.trim() }),
    ...(changed('locale') && { locale: draft.locale.trim() }),
    ...(changed('timezone') && { timezone: draft.timezone }),
    ...(Object.keys(settings).length > 0 && { settings }),
  };
}
