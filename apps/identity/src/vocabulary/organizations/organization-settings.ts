import { readConfig, serviceConfig } from '@customer-platform/config';
import { NO_BRANDING, type Branding } from './branding.js';
import type { MemberJwk } from './member-jwk.js';

/** Events per second, before queueing (contract.md §6). */
export interface RateLimits {
  key_per_second: number;
  organization_per_second: number;
}

/** Which members are asked for a second factor, each policy by more than the one before. */
export const MFA_POLICIES = ['optional', 'owners', 'required'] as const;
type MfaPolicy = (typeof MFA_POLICIES)[number];

/** What holds where nothing is said: who may do everything is asked where it is no exercise. To be read at the start. */
export function defaultMfaPolicy(): MfaPolicy {
  const { PLATFORM_MODE } = readConfig(serviceConfig.pick({ PLATFORM_MODE: true }));
  return PLATFORM_MODE === 'production' ? 'owners' : 'optional';
}

/** Whether fewer are asked for a second factor than before. */
export function asksFewer(before: MfaPolicy, given: MfaPolicy): boolean {
  return MFA_POLICIES.indexOf(given) < MFA_POLICIES.indexOf(before);
}

/** How long sessions live (identity.md §2). */
interface SessionLimits {
  idle_minutes: number;
  absolute_hours: number;
}

/** For how many days things are kept (identity.md §2); null: for as long as the platform keeps them. */
export interface RetentionSettings {
  events_days: number | null;
  dead_letters_days: number | null;
  sends_days: number | null;
  webhook_deliveries_days: number | null;
}

/** An organization's settings with what holds where it says nothing. */
export interface OrganizationSettings {
  rate_limits: RateLimits;
  mfa_policy: MfaPolicy;
  session: SessionLimits;
  member_jwks: { keys: MemberJwk[] };
  branding: Branding;
  retention: RetentionSettings;
  /** Organizations whose SSO connections let people act here, too. */
  sso_organizations: string[];
}

/** Settings as they are kept: only what was said. */
export type StoredSettings = Partial<{
  rate_limits: Partial<RateLimits>;
  mfa_policy: MfaPolicy;
  session: Partial<SessionLimits>;
  member_jwks: { keys: MemberJwk[] };
  branding: Partial<Branding>;
  retention: Partial<RetentionSettings>;
  sso_organizations: string[];
}>;

/** What holds where nothing is said (contract.md §6, identity.md §2). */
export const DEFAULT_SETTINGS: OrganizationSettings = {
  rate_limits: { key_per_second: 1_000, organization_per_second: 2_000 },
  mfa_policy: 'optional',
  session: { idle_minutes: 30, absolute_hours: 12 },
  member_jwks: { keys: [] },
  branding: NO_BRANDING,
  retention: { events_days: null, dead_letters_days: null, sends_days: null, webhook_deliveries_days: null },
  sso_organizations: [],
};

/** Whether something is removed that was kept before. */
export function removesMore(
  before: Partial<RetentionSettings> | undefined,
  given: Partial<RetentionSettings>,
): boolean {
  const fields = Object.keys(DEFAULT_SETTINGS.retention) as (keyof RetentionSettings)[];
  return fields.some((field) => (given[field] ?? Infinity) < (before?.[field] ?? Infinity));
}

/**
 * `limits`: what holds with those above it, see `effectiveLimits`; without them what it says itself. `mfaPolicy`: what
 * holds where nothing is said.
 */
export function effectiveSettings(
  stored: StoredSettings,
  limits: RateLimits = { ...DEFAULT_SETTINGS.rate_limits, ...stored.rate_limits },
  mfaPolicy = DEFAULT_SETTINGS.mfa_policy,
): OrganizationSettings {
  return {
    rate_limits: limits,
    mfa_policy: stored.mfa_policy ?? mfaPolicy,
    session: { ...DEFAULT_SETTINGS.session, ...stored.session },
    member_jwks: stored.member_jwks ?? DEFAULT_SETTINGS.member_jwks,
    branding: { ...NO_BRANDING, ...stored.branding },
    retention: { ...DEFAULT_SETTINGS.retention, ...stored.retention },
    sso_organizations: stored.sso_organizations ?? [],
  };
}

/** What of them the modules work with: how pages look and who signs in how is nothing to them, and for how long things are kept nothing to a call. */
export function moduleSettings(
  stored: StoredSettings,
  limits?: RateLimits,
): Omit<OrganizationSettings, 'branding' | 'retention' | 'sso_organizations'> {
  const {
    branding: _branding,
    retention: _retention,
    sso_organizations: _ssoOrganizations,
    ...settings
  } = effectiveSettings(stored, limits);
  return settings;
}
