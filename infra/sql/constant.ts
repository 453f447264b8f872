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
  | Closure;

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

/** What operators of two sides make of them. */
export const OPERATORS: ReadonlyMap<ts.SyntaxKind, (one: Constant, other: Constant) => Constant> = new Map<
  ts.SyntaxKind,
  (one: Constant, other: Constant) => Constant
>([
  [
    ts.SyntaxKind.PlusToken,
    (one, other) =>
      typeof one === 'number' && typeof other === 'number' ? one + other : textOf(one) + textOf(other),
  ],
  [ts.SyntaxKind.MinusToken, (one, other) => Number(one) - Number(other)],
  [ts.SyntaxKind.AsteriskToken, (one, other) => Number(one) * Number(other)],
  [ts.SyntaxKind.SlashToken, (one, other) => Number(one) / Number(other)],
  [ts.SyntaxKind.EqualsEqualsEqualsToken, (one, other) => one === other],
  [ts.SyntaxKind.ExclamationEqualsEqualsToken, (one, other) => one !== other],
  [ts.SyntaxKind.QuestionQuestionToken, (one, other) => one ?? other],
  [ts.SyntaxKind.BarBarToken, (one, other) => one || other],
  [ts.SyntaxKind.AmpersandAmpersandToken, (one, other) => one && other],
]);

/** As a template writes it; nothing of what no template holds. */
export function textOf(value: Constant): string {
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
