import ts from 'typescript';

/** Whoever calls a function or makes an object of a class. */
export class Callers {
  private uses: Uses | undefined;
  private readonly checker: ts.TypeChecker;
  private readonly files: readonly ts.SourceFile[];

  constructor(checker: ts.TypeChecker, files: readonly ts.SourceFile[]) {
    this.checker = checker;
    this.files = files;
  }

  /** In all files. None where they cannot be told: of a function without a name, or one that is handed on as a value. */
  of(callee: ts.SignatureDeclaration): readonly Call[] {
    const named = ts.isConstructorDeclaration(callee) ? callee.parent : callee;
    const own =
      named.name ??
      (ts.isVariableDeclaration(named.parent) ? (named.parent.name as ts.Identifier) : undefined);
    if (!own || !ts.isIdentifier(own)) return [];
    const symbol = this.checker.getSymbolAtLocation(own);
    const isOwn = (name: ts.Node): boolean => {
      const found = this.checker.getSymbolAtLocation(name);
      return found !== undefined && sourceOf(found, this.checker) === symbol;
    };
    this.uses ??= usesOf(this.files);
    const handedOn = this.uses.values.get(own.text) ?? [];
    // A class is handed on to whoever makes its objects of what they need: nothing that a statement is made of.
    if (!ts.isConstructorDeclaration(callee) && handedOn.some(isOwn)) return [];
    return (this.uses.calls.get(own.text) ?? []).flatMap(({ name, call }) => (isOwn(name) ? [call] : []));
  }
}

/** What is imported, where it is declared. */
export function sourceOf(symbol: ts.Symbol, checker: ts.TypeChecker): ts.Symbol {
  return symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
}

/** A call, or the making of an object. */
export type Call = ts.CallExpression | ts.NewExpression;

/** By name: what is called, and what is written down without a call. */
interface Uses {
  readonly calls: Map<string, { readonly name: ts.Node; readonly call: Call }[]>;
  readonly values: Map<string, ts.Identifier[]>;
}

function usesOf(files: readonly ts.SourceFile[]): Uses {
  const uses: Uses = { calls: new Map(), values: new Map() };
  const add = <T>(map: Map<string, T[]>, name: string, one: T): void => {
    const known = map.get(name);
    if (known) known.push(one);
    else map.set(name, [one]);
  };
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) || ts.isNewExpression(node)) {
      const name = calledName(node);
      if (name) add(uses.calls, name.text, { name, call: node });
    } else if (ts.isIdentifier(node) && isValue(node)) add(uses.values, node.text, node);
    ts.forEachChild(node, visit);
  };
  files.forEach(visit);
  return uses;
}

/** Of `super(…)`, the class that is extended. */
function calledName(call: Call): ts.Identifier | undefined {
  let { expression } = call;
  if (expression.kind === ts.SyntaxKind.SuperKeyword) {
    const own = ts.findAncestor(call, ts.isClassLike);
    const base = own?.heritageClauses?.find(({ token }) => token === ts.SyntaxKind.ExtendsKeyword)?.types[0];
    if (base) expression = base.expression;
  }
  const name = ts.isPropertyAccessExpression(expression) ? expression.name : expression;
  return ts.isIdentifier(name) ? name : undefined;
}

/** Neither what is declared or imported, nor what is called. */
function isValue(name: ts.Identifier): boolean {
  const holder = ts.isPropertyAccessExpression(name.parent) && name.parent.name === name ? name.parent : name;
  const { parent } = holder;
  if ((ts.isCallExpression(parent) || ts.isNewExpression(parent)) && parent.expression === holder)
    return false;
  if (ts.isImportSpecifier(parent) || ts.isExportSpecifier(parent) || ts.isTypeReferenceNode(parent))
    return false;
  return !('name' in parent && parent.name === holder);
}
