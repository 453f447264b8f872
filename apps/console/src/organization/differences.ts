/** One field that somebody else has changed. */
interface Difference {
  field: string;
  before: string;
  now: string;
}

/** Not said by a person. */
const BY_THE_SERVER = new Set(['updated_at']);

/** What is different between two readings of the same thing, field by field, those inside of objects included. */
export function differencesOf(before: object, now: object): Difference[] {
  const was = flat(before);
  const is = flat(now);
  const fields = [...new Set([...was.keys(), ...is.keys()])].filter((field) => !BY_THE_SERVER.has(field));
  return fields
    .map((field) => ({ field, before: was.get(field) ?? '', now: is.get(field) ?? '' }))
    .filter((each) => each.before !== each.now);
}

function flat(value: object, path = ''): Map<string, string> {
  const found = new Map<string, string>();
  for (const [name, each] of Object.entries(value) as [string, unknown][]) {
    const field = path === '' ? name : `${path}.${name}`;
    if (typeof each === 'object' && each !== null && !Array.isArray(each))
      for (const [inner, text] of flat(each, field)) found.set(inner, text);
    else found.set(field, typeof each === 'string' ? each : JSON.stringify(each));
  }
  return found;
}
