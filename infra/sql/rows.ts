import ts from 'typescript';
import type { Column } from '@customer-platform/local/platform/statement-descriptions.ts';

/** Names of types by their numbers; of an array, of which type it is. */
export type Types = ReadonlyMap<number, { name: string; element: number }>;

/** What the driver makes of a value: a primitive, a class of the language, or anything. */
type Made = 'string' | 'number' | 'boolean' | 'Date' | 'Buffer' | 'any';

const MADE: Readonly<Record<string, Made>> = {
  bool: 'boolean',
  int2: 'number',
  int4: 'number',
  oid: 'number',
  float4: 'number',
  float8: 'number',
  // Too large for a number of JavaScript.
  int8: 'string',
  numeric: 'string',
  text: 'string',
  varchar: 'string',
  bpchar: 'string',
  name: 'string',
  char: 'string',
  uuid: 'string',
  citext: 'string',
  inet: 'string',
  cidr: 'string',
  regclass: 'string',
  xid: 'string',
  xid8: 'string',
  pg_lsn: 'string',
  timestamptz: 'Date',
  timestamp: 'Date',
  date: 'Date',
  bytea: 'Buffer',
};

/** Where a row's type says other than its columns, in words. */
export function faultsOf(
  row: ts.Type,
  columns: readonly Column[],
  { checker, types }: { checker: ts.TypeChecker; types: Types },
): string[] {
  const byName = new Map(columns.map((column) => [column.name, column]));
  return row.getProperties().flatMap((property): string[] => {
    const column = byName.get(property.name);
    if (!column)
      return property.flags & ts.SymbolFlags.Optional ? [] : [`no column is named ${property.name}`];
    const declared = checker.getTypeOfSymbol(property);
    if (fits(declared, column.type, { checker, types })) return [];
    const { name } = types.get(column.type) ?? { name: String(column.type) };
    return [`${property.name} is ${name}, not ${checker.typeToString(declared)}`];
  });
}

function fits(
  type: ts.Type,
  column: number,
  known: { readonly checker: ts.TypeChecker; readonly types: Types },
): boolean {
  const { name = '', element = 0 } = known.types.get(column) ?? {};
  const members = (type.isUnion() ? type.types : [type]).filter(
    ({ flags }) => !(flags & (ts.TypeFlags.Null | ts.TypeFlags.Undefined)),
  );
  const untold = ts.TypeFlags.Any | ts.TypeFlags.Unknown | ts.TypeFlags.TypeParameter;
  if (members.some(({ flags }) => flags & untold)) return true;
  if (element !== 0) {
    return members.every((member) => {
      const inner = known.checker.getIndexTypeOfType(member, ts.IndexKind.Number);
      return inner !== undefined && fits(inner, element, known);
    });
  }
  const made = MADE[name] ?? 'any';
  return made === 'any' || members.every((member) => isMade(member, made));
}

function isMade(type: ts.Type, made: Made): boolean {
  if (type.isIntersection()) return type.types.some((part) => isMade(part, made));
  if (made === 'string') return (type.flags & ts.TypeFlags.StringLike) !== 0;
  if (made === 'number') return (type.flags & ts.TypeFlags.NumberLike) !== 0;
  if (made === 'boolean') return (type.flags & ts.TypeFlags.BooleanLike) !== 0;
  return type.getSymbol()?.name === made;
}
