import { PERMISSIONS, type Permission } from '@customer-platform/permissions';

/** Sets kept for sharing; beyond it the oldest are no longer shared, which costs memory and nothing else. */
const SHARED_SETS = 2_000;

/**
 * Permission sets, one object for each distinct set: most organizations use the same built-in roles, and a hundred
 * thousand cached keys must not hold a hundred thousand copies of them.
 */
export class PermissionSets {
  private readonly literals = new Map<string, Permission>(PERMISSIONS.map((text) => [text, text]));
  private readonly sets = new Map<string, ReadonlySet<Permission>>();

  /** The set of the permissions this build knows; one that it does not know protects no route of it. */
  of(permissions: readonly string[]): ReadonlySet<Permission> {
    const name = permissions.join(' ');
    const shared = this.sets.get(name);
    if (shared) return shared;
    const known = permissions.map((text) => this.literals.get(text)).filter((text) => text !== undefined);
    const made: ReadonlySet<Permission> = new Set(known);
    const [oldest] = this.sets.keys();
    if (this.sets.size >= SHARED_SETS && oldest !== undefined) this.sets.delete(oldest);
    this.sets.set(name, made);
    return made;
  }
}
