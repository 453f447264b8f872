import type { Rule } from 'eslint';
import type { CallExpression, Node, Statement } from 'estree';

/** Statements that end a catch clause without saying anything about the error. */
function saysNothing(statement: Statement): boolean {
  if (statement.type === 'EmptyStatement' || statement.type === 'BreakStatement') return true;
  if (statement.type === 'ContinueStatement') return true;
  return statement.type === 'ReturnStatement' && !statement.argument;
}

function isNothing(node: Node): boolean {
  if (node.type === 'Identifier') return node.name === 'undefined';
  if (node.type === 'UnaryExpression') return node.operator === 'void';
  return node.type === 'Literal' && node.value === null;
}

function ignoresItsError(handler: Node): boolean {
  if (handler.type === 'Identifier') return /^(noop|ignore)$/i.test(handler.name);
  if (handler.type !== 'ArrowFunctionExpression' && handler.type !== 'FunctionExpression') return false;
  if (handler.body.type === 'BlockStatement') return handler.body.body.every(saysNothing);
  return isNothing(handler.body);
}

/**
 * An error is handled, translated, counted or thrown on; it never just disappears. Where dropping one is right
 * (closing what is closed already), the disabling comment says why.
 */
export const noSwallowedError: Rule.RuleModule = {
  meta: {
    type: 'problem',
    schema: [],
    messages: { swallowed: 'The error disappears here: handle it, or throw it on.' },
  },
  create(context) {
    return {
      CatchClause(node) {
        if (node.body.body.every(saysNothing)) context.report({ node, messageId: 'swallowed' });
      },
      'CallExpression[callee.property.name="catch"]'(node: CallExpression & Rule.NodeParentExtension) {
        const handler = node.arguments[0];
        if (handler && ignoresItsError(handler)) context.report({ node: handler, messageId: 'swallowed' });
      },
    };
  },
};
