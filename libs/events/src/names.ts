/** Names the members of a record; of a union, those of each of its records. */
export type NamesOf<T> = T extends unknown ? keyof T & string : never;

/** Lists the names of a table's members, in their order. The table has no others than its type says. */
export function namesOf<T extends object>(table: T): readonly NamesOf<T>[] {
  return Object.keys(table) as NamesOf<T>[];
}

/** Makes a record of these names, each with what `of` answers of it. */
export function recordOf<Name extends string, Value>(
  names: readonly Name[],
  of: (name: Name) => Value,
): Record<Name, Value> {
  return Object.fromEntries(names.map((name) => [name, of(name)])) as Record<Name, Value>;
}
