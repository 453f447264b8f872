import ts from 'typescript';
import { NOTHING, SOME_NUMBER, UNTOLD, type Constant } from './constant.ts';

/** Whether it is set once, where it is declared. */
export function isConstant(
  node: ts.Declaration,
): node is ts.Declaration & { readonly initializer: ts.Expression } {
  if (!('initializer' in node) || !node.initializer) return false;
  if (ts.isVariableDeclaration(node)) return (ts.getCombinedNodeFlags(node) & ts.NodeFlags.Const) !== 0;
  if (ts.isEnumMember(node)) return true;
  return (
    ts.isPropertyDeclaration(node) && (ts.getCombinedModifierFlags(node) & ts.ModifierFlags.Readonly) !== 0
  );
}

/** Of a literal with its flags. */
export function regularExpressionOf(literal: string): RegExp {
  const end = literal.lastIndexOf('/');
  return new RegExp(literal.slice(1, end), literal.slice(end + 1));
}

/** Whether it is a constant within a function or a loop: what it is depends on what these are at. */
export function isLocal(
  node: ts.Declaration,
): node is ts.VariableDeclaration & { readonly initializer: ts.Expression } {
  return ts.isVariableDeclaration(node) && isConstant(node) && ts.findAncestor(node, isEntered) !== undefined;
}

/** Where a constructor sets a property, and to what. */
export function setInConstructor(
  property: ts.PropertyDeclaration,
): { readonly maker: ts.ConstructorDeclaration; readonly value: ts.Expression } | undefined {
  const maker = property.parent.members.find(ts.isConstructorDeclaration);
  for (const statement of maker?.body?.statements ?? []) {
    const set = ts.isExpressionStatement(statement) ? statement.expression : undefined;
    if (
      maker &&
      set &&
      ts.isBinaryExpression(set) &&
      ts.isPropertyAccessExpression(set.left) &&
      set.left.expression.kind === ts.SyntaxKind.ThisKeyword &&
      set.left.name.text === property.name.getText()
    )
      return { maker, value: set.right };
  }
  return undefined;
}

/** All values that a type has, where these can be counted, or are numbers. */
export function valuesOfType(type: ts.Type, checker: ts.TypeChecker): readonly Constant[] {
  const members = type.isUnion() ? type.types : [type];
  const values = members.map((member): Constant => {
    if (member.isStringLiteral() || member.isNumberLiteral()) return member.value;
    if (member.flags & ts.TypeFlags.NumberLike) return SOME_NUMBER;
    if (member.flags & ts.TypeFlags.Undefined) return undefined;
    if (member.flags & ts.TypeFlags.BooleanLiteral) return checker.typeToString(member) === 'true';
    return UNTOLD;
  });
  return values.includes(UNTOLD) ? NOTHING : values;
}

function isEntered(node: ts.Node): boolean {
  return ts.isFunctionLike(node) || ts.isForOfStatement(node);
}
