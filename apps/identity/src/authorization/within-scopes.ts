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
