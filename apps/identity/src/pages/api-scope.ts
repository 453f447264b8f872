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
