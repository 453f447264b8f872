import { relative } from 'node:path';
import ts from 'typescript';
import { Constants } from './source-constants.ts';

/** A call that runs a statement in a transaction. */
export interface Place {
  /** `apps/crm/src/notes/notes.repository.ts:41`. */
  readonly at: string;
  readonly file: string;
  /** All texts it may have; none: they cannot be told from the source. */
  readonly statements: readonly string[];
  /** How many values it passes; undefined where that is not written down. */
  readonly parameters: number | undefined;
  /** What it takes each row for; undefined: for anything. */
  readonly row: ts.Type | undefined;
}

const METHODS: ReadonlySet<string> = new Set(['query', 'prepared']);
const TRANSACTION = /\/libs\/database\/src\/transaction\.ts$/;

/** Every such call of these files. */
export function placesOf(program: ts.Program, files: readonly ts.SourceFile[], root: string): Place[] {
  const checker = program.getTypeChecker();
  const constants = new Constants(checker, files);
  const places: Place[] = [];
  const visit = (node: ts.Node, file: ts.SourceFile): void => {
    if (ts.isCallExpression(node) && isStatement(node, checker)) places.push(placeOf(node, file));
    ts.forEachChild(node, (child) => visit(child, file));
  };
  const placeOf = (node: ts.CallExpression, source: ts.SourceFile): Place => {
    const [text, parameters] = node.arguments;
    const line = source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1;
    const file = relative(root, source.fileName);
    const values = text ? constants.within(text) : [];
    return {
      at: `${file}:${line}`,
      file,
      statements: values.filter((value) => typeof value === 'string'),
      parameters: countOf(parameters),
      row: rowOf(node, checker),
    };
  };
  for (const file of files) visit(file, file);
  return places;
}

function isStatement(node: ts.CallExpression, checker: ts.TypeChecker): boolean {
  if (!ts.isPropertyAccessExpression(node.expression) || !METHODS.has(node.expression.name.text))
    return false;
  const declaration = checker.getResolvedSignature(node)?.declaration;
  return declaration !== undefined && TRANSACTION.test(declaration.getSourceFile().fileName);
}

function countOf(parameters: ts.Expression | undefined): number | undefined {
  if (!parameters) return 0;
  return ts.isArrayLiteralExpression(parameters) && !parameters.elements.some(ts.isSpreadElement)
    ? parameters.elements.length
    : undefined;
}

/** Of `Promise<Row[]>`, `Row`; undefined where it was not said. */
function rowOf(node: ts.CallExpression, checker: ts.TypeChecker): ts.Type | undefined {
  const signature = checker.getResolvedSignature(node);
  const rows = signature && checker.getAwaitedType(checker.getReturnTypeOfSignature(signature));
  const row = rows && checker.getIndexTypeOfType(rows, ts.IndexKind.Number);
  return row && row.getProperties().length > 0 ? row : undefined;
}
