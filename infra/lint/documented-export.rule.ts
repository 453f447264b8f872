import type { Rule } from 'eslint';
import type { Program } from 'estree';
import ts from 'typescript';
import { workspacePath } from './workspace-path.ts';

interface TypedServices {
  program: ts.Program | null;
}

function documented(symbol: ts.Symbol, checker: ts.TypeChecker): boolean {
  const target = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
  const declarations = target.declarations ?? [];
  if (declarations.length === 0) return true;
  // Symbols of other packages are theirs to document.
  if (declarations.every((declaration) => declaration.getSourceFile().fileName.includes('/node_modules/')))
    return true;
  return target.getDocumentationComment(checker).length > 0;
}

/** Every symbol a library publishes through its index, and every service of an app, has a doc comment. */
export const documentedExport: Rule.RuleModule = {
  meta: {
    type: 'suggestion',
    schema: [],
    messages: {
      undocumented: '"{{name}}" is published without a doc comment: what it promises, its units, its errors.',
    },
  },
  create(context) {
    const { program } = context.sourceCode.parserServices as TypedServices;
    if (!program) return {};
    const isLibrary = workspacePath(context).startsWith('libs/');
    return {
      Program(node: Program) {
        const checker = program.getTypeChecker();
        const file = program.getSourceFile(context.filename);
        const module = file && checker.getSymbolAtLocation(file);
        if (!module) return;
        for (const symbol of checker.getExportsOfModule(module)) {
          if (!isLibrary && !symbol.name.endsWith('Service')) continue;
          if (documented(symbol, checker)) continue;
          context.report({
            node,
            loc: { line: 1, column: 0 },
            messageId: 'undocumented',
            data: { name: symbol.name },
          });
        }
      },
    };
  },
};
