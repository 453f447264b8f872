/** Without it nobody acts as another, also not on. */
const LEAVE = 'identity.impersonation.start';

/**
 * What somebody may do as another (identity.md §6): what both may, of identity only to read. So nobody leaves
 * credentials behind or acts as a third, and neither what the user is given meanwhile nor what the actor loses makes
 * anybody stronger.
 */
export function permissionsAs(ofUser: readonly string[], ofActor: readonly string[]): string[] {
  const held = new Set(ofActor);
  if (!held.has(LEAVE)) return [];
  return ofUser.filter(
    (permission) =>
      held.has(permission) && (!permission.startsWith('identity.') || permission.endsWith('.read')),
  );
}
