import type { MemberJwk } from './member-jwk.js';

/** Events per second, before queueing (contract.md §6). */
export interface RateLimits {
  key_per_second: number;
  organization_per_second: number;
}

/** Whether members must have a second factor. */
export const MFA_POLICIES = ['optional', 'required'] as const;

/** How long sessions live (identity.md §2). */
export interface SessionLimits {
  idle_minutes: number;
  absolute_hours: number;
}

/** An organization's settings with what holds where it says nothing. */
export interface OrganizationSettings {
  rate_limits: RateLimits;
  mfa_policy: (typeof MFA_POLICIES)[number];
  session: SessionLimits;
  member_jwks: { keys: MemberJwk[] };
}

/** Settings as they are kept: only what was said. */
export type StoredSettings = Partial<{
  rate_limits: Partial<RateLimits>;
  mfa_policy: OrganizationSettings['mfa_policy'];
  session: Partial<SessionLimits>;
  member_jwks: { keys: MemberJwk[] };
}>;

/** Contract.md §6 and identity.md §2. */
const DEFAULTS: OrganizationSettings = {
  rate_limits: { key_per_second: 1_000, organization_per_second: 2_000 },
  mfa_policy: 'optional',
  session: { idle_minutes: 30, absolute_hours: 12 },
  member_jwks: { keys: [] },
};

export function effectiveSettings(stored: StoredSettings): OrganizationSettings {
  return {
    rate_limits: { ...DEFAULTS.rate_limits, ...stored.rate_limits },
    mfa_policy: stored.mfa_policy ?? DEFAULTS.mfa_policy,
    session: { ...DEFAULTS.session, ...stored.session },
    member_jwks: stored.member_jwks ?? DEFAULTS.member_jwks,
  };
}
