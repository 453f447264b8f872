import { PERMISSIONS } from '@customer-platform/permissions';

/** Scopes of all modules, then of each. What they are called is part of the API. */
const KINDS = ['read', 'write'] as const;
const MODULES = [...new Set(PERMISSIONS.map((permission) => permission.split('.')[0] ?? ''))];

/** Scopes by which a client asks for less than all that its user may do (identity.md §7). */
export const API_SCOPES: readonly string[] = [
  ...KINDS,
  ...MODULES.flatMap((module) => KINDS.map((kind) => `${module}.${kind}`)),
];

const OF_MODULE = new RegExp(`^(?:${MODULES.join('|')})(?:$|[^a-z])`, 'i');
const OF_KIND = /(?:^|[^a-z])(?:read|write)(?:$|[^a-z])|^(?:read|write)/i;

/**
 * A scope that is none, and is meant for one: `core.contacts.read`, `read:contacts`. Passed over as others are, it would
 * limit nothing, and the client could do all that its user may.
 */
export function mistypedIn(scopes: Iterable<string>): string | undefined {
  return [...scopes].find(
    (scope) => !API_SCOPES.includes(scope) && (OF_MODULE.test(scope) || OF_KIND.test(scope)),
  );
}

/** Those in a request, in one order; null where it names none: the client may do all that its user may. */
export function apiScopesIn(scopes: Iterable<string>): string[] | null {
  const asked = new Set(scopes);
  const found = API_SCOPES.filter((scope) => asked.has(scope));
  return found.length === 0 ? null : found;
}

/** A token's scopes as they hold: of the API those of its session, whatever was asked for; undefined where there are none. */
export function scopeThatHolds(
  scope: string | undefined,
  apiScopes: readonly string[] | null = null,
): string | undefined {
  const others = (scope ?? '').split(' ').filter((each) => !API_SCOPES.includes(each));
  return [...others, ...(apiScopes ?? [])].join(' ').trim() || undefined;
}

/** Whether two requests let a client do the same. */
export function isSameReach(one: readonly string[] | null, other: readonly string[] | null): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
