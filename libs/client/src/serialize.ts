/**
 * A path with its parameters. What would lead to another route is refused before anything is sent: a missing
 * parameter, an empty one, and the segments that every URL parser takes away.
 *
 * @throws TypeError
 */
export function serializePath(template: string, parameters: Record<string, unknown>): string {
  return template.replaceAll(/\{([^{}]+)\}/g, (_, name: string) => {
    const value = parameters[name];
    const text = typeof value === 'string' || typeof value === 'number' ? String(value) : '';
    if (text === '' || text === '.' || text === '..')
      throw new TypeError(
        `${template}: the path parameter \`${name}\` is ${JSON.stringify(value) ?? 'missing'}`,
      );
    return encodeURIComponent(text);
  });
}

/**
 * A query. Values of a list are joined by commas; a comma within a value, and a percent sign, are encoded once more
 * (contract.md §3). The members of an object are parameters of their own: names that the API does not define. What is
 * undefined or null is left out.
 */
export function serializeQuery(query: Record<string, unknown>): string {
  return Object.entries(query)
    .flatMap(([name, value]) => (isObject(value) ? Object.entries(value) : [[name, value] as const]))
    .filter(([, value]) => value !== undefined && value !== null)
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(written(value))}`)
    .join('&');
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function written(value: unknown): string {
  if (!Array.isArray(value)) return String(value);
  return value.map((item) => String(item).replaceAll(/[%,]/g, encodeURIComponent)).join(',');
}

/** The id that stands where the template has a parameter and the asked path another id; undefined where none does. */
export function replacedId(template: string, asked: string, answered: string): string | undefined {
  const names = template.split('/');
  const before = new URL(asked).pathname.split('/').reverse();
  const after = new URL(answered).pathname.split('/').reverse();
  if (before.length !== after.length) return undefined;
  const at = names.reverse().findIndex((name, i) => name.startsWith('{') && before[i] !== after[i]);
  const id = after[at];
  return id === undefined ? undefined : decodeURIComponent(id);
}
