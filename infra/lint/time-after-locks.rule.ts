import type { Rule } from 'eslint';
import type { CallExpression, Identifier, NewExpression, Node } from 'estree';

type Placed<T extends Node = Node> = T & Rule.NodeParentExtension;

/** What runs a function within a transaction. */
const UNITS = new Set([
  'acrossOrganizations',
  'answered',
  'forEachOrganization',
  'inOrganization',
  'joined',
  'joinedIfFree',
  'savepoint',
]);
/** What a function takes that runs within a transaction. */
const TRANSACTIONS = new Set([
  'EntityManager',
  'OpenTransaction',
  'QueryRunner',
  'Transaction',
  'WorkerTransaction',
]);

const FUNCTION = /^(?:FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/u;

const named = (node: Node | undefined): string | undefined =>
  node?.type === 'Identifier' ? node.name : undefined;

/** The name of a parameter's type. */
function typeOf(parameter: Node): string | undefined {
  const { typeAnnotation } = parameter as Identifier & {
    typeAnnotation?: { typeAnnotation?: { typeName?: Node } };
  };
  return named(typeAnnotation?.typeAnnotation?.typeName);
}

/** Whether the function runs within a transaction: it takes one, or is handed to what begins one. */
function isWithin(func: Placed): boolean {
  const { params } = func as unknown as { params: Node[] };
  if (params.some((parameter) => TRANSACTIONS.has(typeOf(parameter) ?? ''))) return true;
  const { parent } = func;
  if (parent.type !== 'CallExpression' || parent.callee.type !== 'MemberExpression') return false;
  return parent.arguments.includes(func as never) && UNITS.has(named(parent.callee.property) ?? '');
}

function isInTransaction(node: Placed): boolean {
  for (let at: Placed | null = node; at; at = at.parent as Placed | null)
    if (FUNCTION.test(at.type) && isWithin(at)) return true;
  return false;
}

/** `clock.now()`, `this.clock.now()`, `Date.now()`. */
function readsClock({ callee }: CallExpression): boolean {
  if (callee.type !== 'MemberExpression' || named(callee.property) !== 'now') return false;
  const { object } = callee;
  const name = object.type === 'MemberExpression' ? named(object.property) : named(object);
  return name === 'Date' || /clock$/iu.test(name ?? '');
}

/**
 * A transaction waits for locks, and what it decides by the time it decides by the time after them, as `afterLocks` reads it
 * (ADR 350). A clock that is read by itself may have been read before.
 */
export const timeAfterLocks: Rule.RuleModule = {
  meta: {
    type: 'problem',
    schema: [],
    messages: {
      clock: 'In a transaction the time is read by `afterLocks`, behind its last lock.',
    },
  },
  create(context) {
    return {
      CallExpression(node: Placed<CallExpression>) {
        if (readsClock(node) && isInTransaction(node)) context.report({ node, messageId: 'clock' });
      },
      'NewExpression[arguments.length=0]'(node: Placed<NewExpression>) {
        if (named(node.callee) === 'Date' && isInTransaction(node))
          context.report({ node, messageId: 'clock' });
      },
    };
  },
};
