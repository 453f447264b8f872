/** What stands in an address after the `?`, as the router reads it: figures and words that look like JSON are parsed. */
type Search = Record<string, unknown>;

/** Longer than any value that the API filters by. */
const LONGEST = 500;

/** A text of the address; nothing where there is none, or what stands there is none. */
export function textIn(search: Search, name: string): string | undefined {
  const value = search[name];
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return typeof value === 'string' && value !== '' ? value.slice(0, LONGEST) : undefined;
}

/** One of the named values. */
export function oneOf<Value extends string>(
  search: Search,
  name: string,
  values: readonly Value[],
): Value | undefined {
  const text = textIn(search, name);
  return values.find((value) => value === text);
}

/** An instant with its zone, as the API takes it. */
export function instantIn(search: Search, name: string): string | undefined {
  const text = textIn(search, name);
  if (text === undefined) return undefined;
  const instant = new Date(text);
  return Number.isNaN(instant.getTime()) ? undefined : instant.toISOString();
}
