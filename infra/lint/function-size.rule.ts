import type { Rule } from 'eslint';
import type { Node } from 'estree';

const SUITES = new Set(['describe', 'describeWith']);

/** `describe(…)`, `describe.each(…)(…)`: a suite is a list of tests, not one piece of logic. */
function isSuiteCallback(node: Rule.Node): boolean {
  const parent: Node | null = node.parent;
  if (parent?.type !== 'CallExpression' || !parent.arguments.includes(node as never)) return false;
  let callee: Node = parent.callee;
  while (callee.type === 'MemberExpression' || callee.type === 'CallExpression')
    callee = callee.type === 'MemberExpression' ? callee.object : callee.callee;
  return callee.type === 'Identifier' && SUITES.has(callee.name);
}

/** A function has at most `max` lines, comments and blank lines counted: it is what a reader must scroll. */
export const functionSize: Rule.RuleModule = {
  meta: {
    type: 'suggestion',
    schema: [{ type: 'object', properties: { max: { type: 'integer' } }, additionalProperties: false }],
    messages: { long: 'This function has {{lines}} lines, more than {{max}}: split it by its steps.' },
  },
  create(context) {
    const { max } = context.options[0] as { max: number };
    const check = (node: Rule.Node): void => {
      if (!node.loc || isSuiteCallback(node)) return;
      const lines = node.loc.end.line - node.loc.start.line + 1;
      if (lines > max)
        context.report({
          loc: { start: node.loc.start, end: node.loc.start },
          messageId: 'long',
          data: { lines: String(lines), max: String(max) },
        });
    };
    return { FunctionDeclaration: check, FunctionExpression: check, ArrowFunctionExpression: check };
  },
};
