import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Rule } from 'eslint';
import ts from 'typescript';
import { workspacePath } from './workspace-path.ts';

type Declaration = ts.Statement | ts.VariableStatement;

/** What a file exports under each name: its own declarations, or another file's. */
interface Exports {
  readonly declared: ReadonlyMap<string, readonly Declaration[]>;
  readonly passedOn: ReadonlyMap<string, { readonly file: string; readonly name: string }>;
}

const NONE: Exports = { declared: new Map(), passedOn: new Map() };

const read = (path: string, text: string): ts.SourceFile =>
  ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);

function namesOf(statement: ts.Statement): string[] {
  if (ts.isVariableStatement(statement))
    return statement.declarationList.declarations.map(({ name }) => name.getText());
  const { name } = statement as ts.DeclarationStatement;
  return name ? [name.getText()] : [];
}

/** The file of an import as it is written, with `.js` for `.ts`; undefined for a package's. */
function fileOf(from: string, specifier: ts.Expression | undefined): string | undefined {
  if (!specifier || !ts.isStringLiteral(specifier) || !specifier.text.startsWith('.')) return undefined;
  return join(dirname(from), specifier.text.replace(/\.js$/, '.ts'));
}

function exportsOf(path: string, text: string): Exports {
  const declared = new Map<string, Declaration[]>();
  const passedOn = new Map<string, { file: string; name: string }>();
  for (const statement of read(path, text).statements) {
    if (ts.isExportDeclaration(statement)) {
      const file = fileOf(path, statement.moduleSpecifier);
      // Another package's symbols are its own to document.
      if (!file || !statement.exportClause || !ts.isNamedExports(statement.exportClause)) continue;
      for (const { name, propertyName } of statement.exportClause.elements)
        passedOn.set(name.text, { file, name: (propertyName ?? name).text });
    } else
      for (const name of namesOf(statement)) declared.set(name, [...(declared.get(name) ?? []), statement]);
  }
  return { declared, passedOn };
}

const known = new Map<string, Exports>();

function exportsOfFile(path: string): Exports {
  const found = known.get(path) ?? (existsSync(path) ? exportsOf(path, readFileSync(path, 'utf8')) : NONE);
  known.set(path, found);
  return found;
}

const isExported = (statement: Declaration): boolean =>
  ts.canHaveModifiers(statement) &&
  (ts.getModifiers(statement) ?? []).some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);

function isDocumented({ declared, passedOn }: Exports, name: string): boolean {
  const own = declared.get(name);
  if (own) return own.some((statement) => ts.getJSDocCommentsAndTags(statement).length > 0);
  const elsewhere = passedOn.get(name);
  return !elsewhere || isDocumented(exportsOfFile(elsewhere.file), elsewhere.name);
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
    const isLibrary = workspacePath(context).startsWith('libs/');
    return {
      Program(node) {
        const all = exportsOf(context.filename, context.sourceCode.text);
        const published = [
          ...all.passedOn.keys(),
          ...[...all.declared].filter(([, statements]) => statements.some(isExported)).map(([name]) => name),
        ];
        for (const name of published) {
          if ((!isLibrary && !name.endsWith('Service')) || isDocumented(all, name)) continue;
          const loc = { line: 1, column: 0 };
          context.report({ node, loc, messageId: 'undocumented', data: { name } });
        }
      },
    };
  },
};
