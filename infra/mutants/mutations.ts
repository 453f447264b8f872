import ts from 'typescript';

/** The kinds of fault that are put in. */
export const KINDS = ['comparison', 'condition', 'await', 'limit', 'permission', 'sql', 'decorator'] as const;

/** A small fault: `replacement` in place of what stands from `start` to `end` of a source's text. */
export interface Mutation {
  readonly kind: (typeof KINDS)[number];
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
}

const TURNED: ReadonlyMap<ts.SyntaxKind, string> = new Map([
  [ts.SyntaxKind.LessThanToken, '<='],
  [ts.SyntaxKind.LessThanEqualsToken, '<'],
  [ts.SyntaxKind.GreaterThanToken, '>='],
  [ts.SyntaxKind.GreaterThanEqualsToken, '>'],
  [ts.SyntaxKind.EqualsEqualsEqualsToken, '!=='],
  [ts.SyntaxKind.ExclamationEqualsEqualsToken, '==='],
]);
const STATEMENT = /\b(?:SELECT|INSERT INTO|UPDATE|DELETE FROM)\b/;
const LOCK = /\s+FOR (?:NO KEY )?UPDATE(?: SKIP LOCKED)?/g;
/** A term of a WHERE with the AND before it, up to what ends it; parentheses of one depth are a part of it. */
const TERM =
  /\s+AND\s+(?:[^()`]|\([^()`]*\))+?(?=\s+(?:AND|OR|ORDER|GROUP|LIMIT|FOR|RETURNING|UNION|ON)\b|\s*[)`]|$)/g;
/** The first term of a WHERE that has others. */
const FIRST_TERM = /(?<=\bWHERE\s+)(?:[^()`]|\([^()`]*\))+?(?=\s+AND\b)/g;

/** Every fault that can be put into a source, in the order of its text. `permissions` are the names that exist. */
export function mutationsOf(path: string, text: string, permissions: ReadonlySet<string>): Mutation[] {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const found: Mutation[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isTypeNode(node) || ts.isImportDeclaration(node)) return;
    found.push(...ofNode(node, permissions));
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found.sort((a, b) => a.start - b.start);
}

function ofNode(node: ts.Node, permissions: ReadonlySet<string>): Mutation[] {
  if (ts.isBinaryExpression(node)) return ofOperator(node);
  if (ts.isIfStatement(node)) return [replaced('condition', node.expression, 'false')];
  if (ts.isAwaitExpression(node)) return [replaced('await', node, node.expression.getText())];
  if (ts.isNumericLiteral(node)) return ofNumber(node);
  if (ts.isDecorator(node) && ts.isPropertyDeclaration(node.parent)) return [replaced('decorator', node, '')];
  if (ts.isStringLiteral(node) && permissions.has(node.text)) return [otherPermission(node, permissions)];
  if (ts.isTemplateExpression(node) || ts.isStringLiteralLike(node)) return ofStatement(node);
  return [];
}

function replaced(kind: Mutation['kind'], node: ts.Node, replacement: string): Mutation {
  return { kind, start: node.getStart(), end: node.getEnd(), replacement };
}

function ofOperator({ left, operatorToken, right }: ts.BinaryExpression): Mutation[] {
  const turned = TURNED.get(operatorToken.kind);
  if (turned !== undefined) return [replaced('comparison', operatorToken, turned)];
  const { AmpersandAmpersandToken, BarBarToken } = ts.SyntaxKind;
  if (![AmpersandAmpersandToken, BarBarToken].some((kind) => kind === operatorToken.kind)) return [];
  return [{ kind: 'condition', start: left.getEnd(), end: right.getEnd(), replacement: '' }];
}

/** Zero and one are rather signs and indexes than limits. */
function ofNumber(node: ts.NumericLiteral): Mutation[] {
  const value = Number(node.text.replaceAll('_', ''));
  return Number.isInteger(value) && value > 1 ? [replaced('limit', node, String(value + 1))] : [];
}

function otherPermission(node: ts.StringLiteral, permissions: ReadonlySet<string>): Mutation {
  const all = [...permissions].sort();
  const next = all[(all.indexOf(node.text) + 1) % all.length] ?? '';
  return replaced('permission', node, `'${next}'`);
}

/** Terms of conditions and locks that a statement is left without. */
function ofStatement(node: ts.Node): Mutation[] {
  const text = node.getText();
  if (!STATEMENT.test(text) && !/\bWHERE\b/.test(text)) return [];
  const without = (pattern: RegExp, replacement: string): Mutation[] =>
    [...text.matchAll(pattern)]
      .filter(([match]) => isWhole(match))
      .map(({ 0: match, index }) => ({
        kind: 'sql',
        start: node.getStart() + index,
        end: node.getStart() + index + match.length,
        replacement,
      }));
  return [...without(TERM, ''), ...without(FIRST_TERM, 'true'), ...without(LOCK, '')];
}

/** Whether a part of a template cuts no substitution in two. */
function isWhole(text: string): boolean {
  return text.split('${').length === text.split('}').length;
}
