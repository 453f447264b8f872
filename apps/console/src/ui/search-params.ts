/** What stands in an address after the `?`, as the router reads it: figures and words that look like JSON are parsed. */
type Search = Record<string, unknown>;

/** Longer than any value that the API filters by. */
const LONGEST = 500;

const ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const DATE = /^\d{4}-\d{2}-\d{2}$/;
/** The years that the API knows. */
const YEARS = /^(?!0000)\d{4}-/;

/** A text of the address; nothing where there is none, or what stands there is none that could be stored. */
export function textIn(search: Search, name: string): string | undefined {
  const value = search[name];
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value !== 'string' || value === '' || value.includes('\0')) return undefined;
  const text = value.slice(0, LONGEST);
  return text.isWellFormed() ? text : undefined;
}

/** The id of something. */
export function idIn(search: Search, name: string): string | undefined {
  const text = textIn(search, name)?.trim();
  return text !== undefined && isId(text) ? text : undefined;
}

/** Tells whether a text is an id as the API writes them. */
export function isId(text: string): boolean {
  return ID.test(text);
}

/** An order by one of the fields, either way. */
export function sortIn(search: Search, name: string, fields: readonly string[]): string | undefined {
  const text = textIn(search, name);
  return text !== undefined && fields.includes(text.replace(/^-/, '')) ? text : undefined;
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
  if (Number.isNaN(instant.getTime())) return undefined;
  const written = instant.toISOString();
  return YEARS.test(written) ? written : undefined;
}

/** A date of the address that there is. */
export function dateIn(search: Search, name: string): string | undefined {
  const text = textIn(search, name);
  if (text === undefined || !DATE.test(text)) return undefined;
  const instant = Date.parse(`${text}T00:00:00Z`);
  return Number.isNaN(instant) || !new Date(instant).toISOString().startsWith(text) ? undefined : text;
}
