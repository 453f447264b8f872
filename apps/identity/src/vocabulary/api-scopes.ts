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

/**
 * Permissions that a grant of these scopes lets a client use (identity.md §7). `read` is whatever reads, in whatever form;
 * all else is `write`, which does not include it. Without scopes nothing is left out.
 */
export function withinScopes(permissions: readonly string[], scopes: readonly string[] | null): string[] {
  if (scopes === null) return [...permissions];
  const given = new Set(scopes);
  return permissions.filter((permission) => {
    const [module = '', , action = ''] = permission.split('.');
    const kind = /^read(?:_|$)/.test(action) ? 'read' : 'write';
    return given.has(kind) || given.has(`${module}.${kind}`);
  });
}

/** A scope of the API taken apart: `read` or `core.read`. */
export function apiScope(scope: string): {
  readonly module: string | undefined;
  readonly kind: 'read' | 'write';
} {
  const parts = scope.split('.');
  return {
    module: parts.length > 1 ? parts[0] : undefined,
    kind: parts.at(-1) === 'read' ? 'read' : 'write',
  };
}
