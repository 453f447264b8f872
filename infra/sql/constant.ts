import ts from 'typescript';

/** What an expression is known to be: a value of JavaScript, or a function of the source. */
export type Constant =
  | string
  | number
  | boolean
  | null
  | undefined
  | readonly Constant[]
  | ReadonlyMap<string, Constant>
  | RegExp
  | Closure
  | Unknown;

/** What takes the place of a value that cannot be told: a member of a record, some number, no value at all. */
class Unknown {
  readonly what: 'member' | 'number' | 'end';

  constructor(what: Unknown['what']) {
    this.what = what;
  }
}

/** What a record has and nobody can tell. */
export const UNTOLD = new Unknown('member');
/** Some number: as good as any other in a statement, and equal to nothing. */
export const SOME_NUMBER = new Unknown('number');
/** A function that throws gives nothing, and is none that cannot be told. */
export const THROWN = new Unknown('end');

/** A function of the source with what its body sees. */
export class Closure {
  readonly node: ts.FunctionLikeDeclaration;
  readonly scope: Scope;

  constructor(node: ts.FunctionLikeDeclaration, scope: Scope) {
    this.node = node;
    this.scope = scope;
  }
}

/** Each name with all that it may be. */
export type Scope = ReadonlyMap<ts.Symbol, Constant>;

/** Nothing that can be told. */
export const NOTHING: readonly Constant[] = [];

type Operator = (one: Constant, other: Constant) => readonly Constant[];

const BOTH: readonly Constant[] = [true, false];
const isUnknown = (value: Constant): boolean => value instanceof Unknown;
const isNumeric = (value: Constant): boolean => typeof value === 'number' || value === SOME_NUMBER;

function arithmetic(operate: (one: number, other: number) => number): Operator {
  return (one, other) =>
    isUnknown(one) || isUnknown(other) ? [SOME_NUMBER] : [operate(Number(one), Number(other))];
}

function comparison(operate: (one: Constant, other: Constant) => boolean): Operator {
  return (one, other) => (isUnknown(one) || isUnknown(other) ? BOTH : [operate(one, other)]);
}

const add = arithmetic((one, other) => one + other);

/** All that operators of two sides may make of them. */
export const OPERATORS: ReadonlyMap<ts.SyntaxKind, Operator> = new Map<ts.SyntaxKind, Operator>([
  [
    ts.SyntaxKind.PlusToken,
    (one, other) => (isNumeric(one) && isNumeric(other) ? add(one, other) : [textOf(one) + textOf(other)]),
  ],
  [ts.SyntaxKind.MinusToken, arithmetic((one, other) => one - other)],
  [ts.SyntaxKind.AsteriskToken, arithmetic((one, other) => one * other)],
  [ts.SyntaxKind.SlashToken, arithmetic((one, other) => one / other)],
  [ts.SyntaxKind.EqualsEqualsEqualsToken, comparison((one, other) => one === other)],
  [ts.SyntaxKind.ExclamationEqualsEqualsToken, comparison((one, other) => one !== other)],
  [ts.SyntaxKind.QuestionQuestionToken, (one, other) => [one ?? other]],
  [ts.SyntaxKind.BarBarToken, (one, other) => (isUnknown(one) ? [one, other] : [one || other])],
  [ts.SyntaxKind.AmpersandAmpersandToken, (one, other) => (isUnknown(one) ? [one, other] : [one && other])],
]);

/** What a condition with these values may be. */
export function truthsOf(values: readonly Constant[]): readonly boolean[] {
  if (values.length === 0 || values.some(isUnknown)) return [true, false];
  return [...new Set(values.map(Boolean))];
}

/** What is made of each, together; nothing where it cannot be told of one of them. */
export function ofEach<T>(items: readonly T[], of: (item: T) => readonly Constant[]): readonly Constant[] {
  const results = items.map(of);
  return results.some(({ length }) => length === 0) ? NOTHING : results.flat(1);
}

/** As a template writes it; nothing of what no template holds. */
export function textOf(value: Constant): string {
  if (value === SOME_NUMBER) return '1';
  if (Array.isArray(value)) return (value as Constant[]).map(textOf).join(',');
  return typeof value === 'object' && value !== null ? '' : String(value);
}

/** An object by the names of its members; undefined where it is none. */
export function recordOf(value: Constant): ReadonlyMap<string, Constant> | undefined {
  return value instanceof Map ? (value as ReadonlyMap<string, Constant>) : undefined;
}

/** A member of an object, or an element of a list; undefined where there is none. */
export function memberOf(value: Constant, key: string | number): Constant {
  return Array.isArray(value) ? (value as Constant[])[Number(key)] : recordOf(value)?.get(String(key));
}

/** Each once. */
export function unique(values: readonly Constant[]): readonly Constant[] {
  return [...new Set(values)];
}
