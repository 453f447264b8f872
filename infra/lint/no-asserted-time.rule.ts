import type { Rule, Scope } from 'eslint';
import type { CallExpression, Expression, Node, ObjectExpression, PrivateIdentifier } from 'estree';

/** `eventually` gives up after so long by itself: what is shorter says how quick something must be. */
const PATIENCE_MS = 10_000;
const COMPARISON = /^toBe(?:LessThan|GreaterThan|CloseTo)/u;
const CLOCKS = new Set(['performance', 'Date']);

/**
 * No test passes or fails by how fast the machine is: it waits for a condition, injects time, compares what it measured
 * in itself, or runs before a release. So a spec compares no elapsed time with a bound, and no `eventually` has a bound
 * that is shorter than its own.
 */
export const noAssertedTime: Rule.RuleModule = {
  meta: {
    type: 'problem',
    schema: [],
    messages: {
      elapsed:
        'No clock decides: wait for a condition, inject the time, or compare two times of the same test, in proportion.',
      bound:
        'Wait without a bound of your own (eventually gives up by itself): a slow machine is no fault of the code.',
    },
  },
  create(context) {
    const { scopeManager } = context.sourceCode;
    /** What a variable was given where it was declared. */
    const valueOf = (node: Node): Node => {
      if (node.type !== 'Identifier') return node;
      let scope: Scope.Scope | null = context.sourceCode.getScope(node);
      for (; scope; scope = scope.upper) {
        const [definition] = scope.set.get(node.name)?.defs ?? [];
        if (definition?.type === 'Variable' && definition.node.init) return definition.node.init;
        if (definition) return node;
      }
      return node;
    };
    const isElapsed = (node: Node): boolean => {
      const value = valueOf(node);
      if (value.type !== 'BinaryExpression') return false;
      const { operator, left, right } = value;
      if (operator === '-') return isClock(valueOf(left)) && isClock(valueOf(right));
      return operator === '/' && isElapsed(left) && right.type === 'Literal';
    };
    return {
      CallExpression(node) {
        if (!scopeManager) return;
        const asserted = comparedIn(node);
        if (asserted && (isElapsed(asserted.subject) || isDeadline(asserted, valueOf)))
          context.report({ node, messageId: 'elapsed' });
        if (node.callee.type !== 'Identifier' || node.callee.name !== 'eventually') return;
        const options = node.arguments[1] && valueOf(node.arguments[1]);
        if (options?.type === 'ObjectExpression' && isShort(options))
          context.report({ node, messageId: 'bound' });
      },
    };
  },
};

interface Compared {
  readonly subject: Node;
  readonly bound: Node;
}

/** `expect(subject).toBeLessThan(bound)` and its like. */
function comparedIn(node: CallExpression): Compared | undefined {
  const { callee } = node;
  if (callee.type !== 'MemberExpression' || callee.property.type !== 'Identifier') return undefined;
  if (!COMPARISON.test(callee.property.name)) return undefined;
  const called = callee.object.type === 'MemberExpression' ? callee.object.object : callee.object;
  if (called.type !== 'CallExpression' || called.callee.type !== 'Identifier') return undefined;
  const [subject] = called.arguments;
  const [bound] = node.arguments;
  return called.callee.name === 'expect' && subject && bound ? { subject, bound } : undefined;
}

/** The clock's own value, compared with one that was read before. */
function isDeadline({ subject, bound }: Compared, valueOf: (node: Node) => Node): boolean {
  const value = valueOf(bound);
  return isClock(subject) && value.type === 'BinaryExpression' && isClock(valueOf(value.left));
}

/** `performance.now()`, `Date.now()`. */
function isClock(node: Node | Expression | PrivateIdentifier): boolean {
  if (node.type !== 'CallExpression' || node.callee.type !== 'MemberExpression') return false;
  const { object, property } = node.callee;
  return (
    object.type === 'Identifier' &&
    CLOCKS.has(object.name) &&
    property.type === 'Identifier' &&
    property.name === 'now'
  );
}

function isShort({ properties }: ObjectExpression): boolean {
  return properties.some(
    (property) =>
      property.type === 'Property' &&
      property.key.type === 'Identifier' &&
      property.key.name === 'within' &&
      property.value.type === 'Literal' &&
      typeof property.value.value === 'number' &&
      property.value.value < PATIENCE_MS,
  );
}
