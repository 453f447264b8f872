import type { Rule } from 'eslint';
import type { CallExpression, Expression, Node, PrivateIdentifier, Super } from 'estree';

/** Methods of streams and sockets, of which none answers with a promise. */
const OF_STREAMS = new Set(['destroy', 'end', 'pause', 'resume', 'write']);

type Function = Extract<
  Node,
  { type: 'FunctionDeclaration' | 'FunctionExpression' | 'ArrowFunctionExpression' }
>;

/** What is called: `name` or `this.name`. */
function calleeName(callee: Expression | Super | PrivateIdentifier): string | undefined {
  if (callee.type === 'Identifier') return callee.name;
  if (callee.type !== 'MemberExpression' || callee.object.type !== 'ThisExpression') return undefined;
  return callee.property.type === 'Identifier' ? callee.property.name : undefined;
}

/** A call whose promise is heard in the expression itself. */
function isHeard({ callee, arguments: given }: CallExpression): boolean {
  if (callee.type !== 'MemberExpression' || callee.property.type !== 'Identifier') return false;
  const { name } = callee.property;
  if (name === 'catch' || name === 'allSettled') return true;
  return name === 'then' && given.length > 1;
}

/** Whether all that a function waits for or throws stands in a `try` that catches. */
function hearsItself(called: Function): boolean {
  if (called.body.type !== 'BlockStatement')
    return called.body.type === 'CallExpression' && isHeard(called.body);
  return called.body.body.every(
    (statement) => (statement.type === 'TryStatement' && statement.handler) || !mayReject(statement),
  );
}

/** Whether something is waited for or thrown in a statement; functions within wait for themselves. */
function mayReject(node: unknown): boolean {
  if (Array.isArray(node)) return node.some(mayReject);
  if (typeof node !== 'object' || node === null || !('type' in node)) return false;
  const { type } = node as Node;
  if (type === 'AwaitExpression' || type === 'ThrowStatement') return true;
  if (/Function/.test(type)) return false;
  return Object.entries(node).some(([key, value]) => key !== 'parent' && mayReject(value));
}

/** Whatever is called may be one, but for what streams have. */
function mayBePromise({ callee }: CallExpression): boolean {
  if (callee.type !== 'MemberExpression' || callee.property.type !== 'Identifier') return true;
  return !OF_STREAMS.has(callee.property.name);
}

/**
 * A promise that is set aside with `void` is heard where it fails: what nobody hears ends the process, and with it every
 * organization's requests. It is caught on the spot, or by the function itself, whose every wait stands in a `try`.
 */
export const heardPromise: Rule.RuleModule = {
  meta: {
    type: 'problem',
    schema: [],
    messages: {
      unheard:
        'Nobody hears this promise fail, which ends the process: add `.catch(…)`, or let the function catch.',
    },
  },
  create(context) {
    const functions = new Map<string, Function>();
    const aside: CallExpression[] = [];
    return {
      FunctionDeclaration(node) {
        functions.set(node.id.name, node);
      },
      MethodDefinition({ key, value }) {
        if (key.type === 'Identifier') functions.set(key.name, value);
      },
      VariableDeclarator({ id, init }) {
        if (id.type === 'Identifier' && init?.type === 'ArrowFunctionExpression')
          functions.set(id.name, init);
      },
      'UnaryExpression[operator="void"] > CallExpression.argument'(node: CallExpression) {
        aside.push(node);
      },
      'Program:exit'() {
        for (const node of aside) {
          const name = calleeName(node.callee);
          const called = name === undefined ? undefined : functions.get(name);
          const isUnheard = called?.async ? !hearsItself(called) : mayBePromise(node);
          if (isUnheard && !isHeard(node)) context.report({ node, messageId: 'unheard' });
        }
      },
    };
  },
};
