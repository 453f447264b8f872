/** How an organization's pages of signing in look (identity.md §2). */
export interface Branding {
  /** `#rrggbb`, of buttons; what is written on them is black or white, whichever is read better. */
  readonly color: string | null;
  /** https; browsers load it from there. */
  readonly logo_url: string | null;
}

export const NO_BRANDING: Branding = { color: null, logo_url: null };

export const COLOR = /^#[0-9a-f]{6}$/i;
const LONGEST_URL = 500;
/** It is named in the pages' policy, where `;` and `,` have a meaning. */
const HOST = /^https:\/\/[a-z0-9.-]+(?::\d+)?(?:\/|$)/i;

/** What is wrong with a logo's address; undefined where nothing is. */
export function faultOfLogo(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.length > LONGEST_URL)
    return `An address of ≤ ${String(LONGEST_URL)} characters.`;
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url?.protocol !== 'https:' || /[\s#]/.test(value))
    return 'An https address without fragment or blanks.';
  if (url.username !== '' || url.password !== '') return 'An address with a user or password is not taken.';
  return HOST.test(value) ? undefined : 'A host of letters, digits, dots and hyphens.';
}
