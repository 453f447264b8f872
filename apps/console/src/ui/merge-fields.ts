/** The fields that both have changed, each to something else. */
export function conflictsOf<Body extends object>(were: Body, theirs: Body, mine: Body): FieldOf<Body>[] {
  return (Object.keys(mine) as FieldOf<Body>[]).filter(
    (field) =>
      !isSame(were[field], mine[field]) &&
      !isSame(were[field], theirs[field]) &&
      !isSame(theirs[field], mine[field]),
  );
}

/** Merges what is written here over what is stored by now: only the fields that were changed here. */
export function mergedFields<Body extends object>(were: Body, theirs: Body, mine: Body): Body {
  const untouched = (Object.keys(mine) as FieldOf<Body>[]).filter(
    (field) => field in theirs && isSame(were[field], mine[field]),
  );
  return { ...mine, ...Object.fromEntries(untouched.map((field) => [field, theirs[field]])) };
}

type FieldOf<Body> = keyof Body & string;

function isSame(one: unknown, other: unknown): boolean {
  return inOrder(one) === inOrder(other);
}

/** Writes a value as JSON, with the fields of objects in one order. */
function inOrder(value: unknown): string {
  const sorted = (_: string, each: unknown): unknown =>
    typeof each === 'object' && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)))
      : each;
  return JSON.stringify(value, sorted) ?? '';
}
