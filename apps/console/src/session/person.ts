/** An organization as somebody who belongs to it sees it. */
interface Organization {
  id: string;
  name: string;
  slug: string;
}

/** Who is signed in, where, and what they may do there: what `GET /oauth/userinfo` answers the Console. */
export interface Person {
  id: string;
  name: string;
  email: string;
  locale: 'en' | 'es';
  organization: Organization & { timezone: string };
  /** What stands between the person and the organization, whatever they may do there. */
  restriction: 'mfa_required' | 'organization_suspended' | null;
  /** All that one can switch to, this one included. */
  organizations: readonly Organization[];
  /** There are more; the provider's own page finds those. */
  moreOrganizations: boolean;
  permissions: ReadonlySet<string>;
}

interface UserInfo {
  sub: string;
  name?: string;
  email?: string;
  locale?: string;
  organization?: Organization & { timezone?: string; locale?: string };
  organizations?: Organization[];
  more_organizations?: boolean;
  restriction?: Person['restriction'];
  permissions?: string[];
}

/** @throws when the answer names no organization: the platform is then older than this Console */
export function personOf(info: UserInfo): Person {
  const { organization } = info;
  if (organization === undefined) throw new Error('The answer of the provider names no organization');
  return {
    id: info.sub,
    name: info.name ?? info.email ?? info.sub,
    email: info.email ?? '',
    locale: languageOf(info.locale ?? organization.locale),
    organization: { ...organization, timezone: organization.timezone ?? 'UTC' },
    organizations: info.organizations ?? [organization],
    moreOrganizations: info.more_organizations ?? false,
    restriction: info.restriction ?? null,
    permissions: new Set(info.permissions ?? []),
  };
}

/** The language of the Console for a locale such as `es-CL`. */
export function languageOf(locale: string | undefined): 'en' | 'es' {
  return locale?.toLowerCase().startsWith('en') ? 'en' : 'es';
}
