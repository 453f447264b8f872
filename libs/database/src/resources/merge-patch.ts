/** A value that replaces the stored one as it is, where a merge would keep members that mean nothing any more. */
export class Whole<T> {
  constructor(readonly value: T) {}
}

/**
 * JSON merge patch (RFC 7396): absent members stay, null clears, objects merge member by member, anything else
 * replaces. Neither argument is changed.
 */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const merged: Record<string, unknown> = isObject(target) ? { ...target } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === undefined) continue;
    if (value === null) delete merged[name];
    else merged[name] = mergePatch(merged[name], value);
  }
  return merged;
}

/** The new value of a property: what is whole or an instant replaces, anything else merges. */
export function patched(current: unknown, given: unknown): unknown {
  if (given instanceof Whole) return given.value as unknown;
  return given instanceof Date ? given : mergePatch(current, given);
}

/** Whether two values are the same JSON, whatever the order of their members. Dates count as their instants. */
export function sameJson(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (left instanceof Date || right instanceof Date) return instant(left) === instant(right);
  if (Array.isArray(left) && Array.isArray(right)) {
    return left.length === right.length && left.every((item, at) => sameJson(item, right[at]));
  }
  if (Array.isArray(left) || Array.isArray(right) || !isObject(left) || !isObject(right)) {
    return (left ?? null) === (right ?? null);
  }
  const names = new Set([...Object.keys(left), ...Object.keys(right)]);
  return [...names].every((name) => sameJson(left[name], right[name]));
}

function instant(value: unknown): number | undefined {
  if (value instanceof Date) return value.getTime();
  return typeof value === 'string' ? Date.parse(value) : undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

/** Which members of two objects differ, in the order of their names. */
export function changedMembers(left: unknown, right: unknown): string[] {
  const [before, after] = [isObject(left) ? left : {}, isObject(right) ? right : {}];
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].filter((name) => !sameJson(before[name], after[name])).sort();
}
