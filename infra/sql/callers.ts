import ts from 'typescript';

/** Whoever calls a function or makes an object of a class. */
export class Callers {
  private calls: Map<string, Call[]> | undefined;
  private readonly checker: ts.TypeChecker;
  private readonly files: readonly ts.SourceFile[];

  constructor(checker: ts.TypeChecker, files: readonly ts.SourceFile[]) {
    this.checker = checker;
    this.files = files;
  }

  /** In all files; none of a function without a name. */
  of(callee: ts.SignatureDeclaration): readonly Call[] {
    const named = ts.isConstructorDeclaration(callee) ? callee.parent : callee;
    const own =
      named.name ??
      (ts.isVariableDeclaration(named.parent) ? (named.parent.name as ts.Identifier) : undefined);
    if (!own || !ts.isIdentifier(own)) return [];
    const symbol = this.checker.getSymbolAtLocation(own);
    this.calls ??= callsOf(this.files);
    return (this.calls.get(own.text) ?? []).filter(({ expression }) => {
      const name = ts.isPropertyAccessExpression(expression) ? expression.name : expression;
      const called = this.checker.getSymbolAtLocation(name);
      return called !== undefined && sourceOf(called, this.checker) === symbol;
    });
  }
}

/** What is imported, where it is declared. */
export function sourceOf(symbol: ts.Symbol, checker: ts.TypeChecker): ts.Symbol {
  return symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
}

type Call = ts.CallExpression | ts.NewExpression;

/** By the name of what is called. */
function callsOf(files: readonly ts.SourceFile[]): Map<string, Call[]> {
  const calls = new Map<string, Call[]>();
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) || ts.isNewExpression(node)) {
      const { expression } = node;
      const name = ts.isPropertyAccessExpression(expression) ? expression.name : expression;
      if (ts.isIdentifier(name)) calls.set(name.text, [...(calls.get(name.text) ?? []), node]);
    }
    ts.forEachChild(node, visit);
  };
  files.forEach(visit);
  return calls;
}
