import { Closure, NOTHING, recordOf, textOf, truthsOf, UNTOLD, type Constant } from './constant.ts';

/** What a function of the source makes of values. */
type Apply = (closure: Closure, values: readonly Constant[]) => readonly Constant[];

const TEXT_METHODS: ReadonlySet<string> = new Set([
  'concat',
  'replace',
  'replaceAll',
  'slice',
  'split',
  'startsWith',
  'toLowerCase',
  'toUpperCase',
  'trim',
]);
const LIST_METHODS: ReadonlySet<string> = new Set(['concat', 'filter', 'flatMap', 'includes', 'join', 'map']);

/** Whether texts or lists have a method of this name that is understood. */
export function isBuiltIn(method: string): boolean {
  return TEXT_METHODS.has(method) || LIST_METHODS.has(method);
}

/** What a method makes of a text or a list, with what its arguments may be. */
export function ofMethod(
  value: Constant,
  method: string,
  given: readonly (readonly Constant[])[],
  apply: Apply,
): readonly Constant[] {
  if (typeof value === 'string' && TEXT_METHODS.has(method)) return ofText(value, method, given);
  return Array.isArray(value) ? ofList(value as Constant[], method, given, apply) : NOTHING;
}

/** `Object.keys`, `Object.values` and `Object.entries` of a record. */
export function ofRecord(value: Constant, method: string): readonly Constant[] {
  const record = recordOf(value);
  if (!record) return NOTHING;
  if (method === 'keys') return [[...record.keys()]];
  if (method === 'values') return [[...record.values()]];
  return method === 'entries' ? [[...record.entries()]] : NOTHING;
}

function ofText(value: string, method: string, given: readonly (readonly Constant[])[]): readonly Constant[] {
  if (given.some(({ length }) => length !== 1)) return NOTHING;
  const run = (value as unknown as Record<string, (...values: unknown[]) => Constant>)[method];
  return run ? [run.apply(value, given.flat())] : NOTHING;
}

function ofList(
  list: readonly Constant[],
  method: string,
  given: readonly (readonly Constant[])[],
  apply: Apply,
): readonly Constant[] {
  const [argument] = given[0] ?? [];
  if (list.includes(UNTOLD)) return NOTHING;
  if (method === 'join') return [list.map(textOf).join(argument === undefined ? ',' : textOf(argument))];
  if (method === 'concat')
    return given.every(({ length }) => length === 1) ? [[...list, ...given.flat(2)] as Constant[]] : NOTHING;
  if (method === 'includes') return (given[0] ?? []).map((value) => list.includes(value));
  if (!(argument instanceof Closure)) return NOTHING;
  const results = list.map((item, place) => apply(argument, [item, place]));
  if (method === 'filter') return filtered(list, results);
  if (results.some(({ length }) => length !== 1)) return NOTHING;
  const told = results.map(([result]) => result);
  if (method === 'map') return [told];
  return method === 'flatMap' ? [told.flat<Constant[], 1>()] : NOTHING;
}

/** With and without each of which it depends on what only runs. */
function filtered(list: readonly Constant[], results: readonly (readonly Constant[])[]): readonly Constant[] {
  if (results.some(({ length }) => length === 0)) return NOTHING;
  return list.reduce<readonly (readonly Constant[])[]>(
    (lists, item, place) => {
      const kept = truthsOf(results[place] ?? NOTHING);
      return lists.flatMap((before) => kept.map((is) => (is ? [...before, item] : before)));
    },
    [[]],
  );
}
