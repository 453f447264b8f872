import type { Rule } from 'eslint';
import type {
  ArrowFunctionExpression,
  CallExpression,
  DoWhileStatement,
  Expression,
  ForStatement,
  FunctionDeclaration,
  FunctionExpression,
  Node,
  WhileStatement,
} from 'estree';

type Loop = ForStatement | WhileStatement | DoWhileStatement;
type Func = FunctionDeclaration | FunctionExpression | ArrowFunctionExpression;
type Placed<T extends Node = Node> = T & Rule.NodeParentExtension;

/** A header that names no bound: nothing, `true`, or only flags and questions (`!this.stopping && (await next())`). */
export function isUnbound(test: Expression | null | undefined): boolean {
  if (!test) return true;
  if (test.type === 'Literal') return test.value === true;
  if (test.type === 'LogicalExpression') return isUnbound(test.left) && isUnbound(test.right);
  if (test.type === 'UnaryExpression') return test.operator === '!';
  return test.type === 'AwaitExpression';
}

function functionAround(node: Placed): Placed<Func> | undefined {
  for (let at: Placed | null = node.parent as Placed | null; at; at = at.parent as Placed | null)
    if (/^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/u.test(at.type))
      return at as Placed<Func>;
  return undefined;
}

function loopsAround(node: Placed): Loop[] {
  const loops: Loop[] = [];
  for (let at: Placed | null = node.parent as Placed | null; at; at = at.parent as Placed | null) {
    if (/^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/u.test(at.type)) break;
    if (at.type === 'ForStatement' || at.type === 'WhileStatement' || at.type === 'DoWhileStatement')
      loops.push(at);
  }
  return loops;
}

const named = (node: Node | null | undefined, prefix = ''): string | undefined =>
  node?.type === 'Identifier' ? prefix + node.name : undefined;

/** As the function is called from within it: `again`, or `this.again`. */
function nameOf(func: Placed<Func>): string | undefined {
  if (func.type === 'FunctionDeclaration') return named(func.id);
  const { parent } = func;
  if (parent.type === 'MethodDefinition' || parent.type === 'PropertyDefinition')
    return named(parent.key, 'this.');
  return parent.type === 'VariableDeclarator' ? named(parent.id) : undefined;
}

function calledName({ callee }: CallExpression): string | undefined {
  if (callee.type !== 'MemberExpression') return named(callee);
  return callee.object.type === 'ThisExpression' ? named(callee.property, 'this.') : undefined;
}

/** Given what it was called with itself: nothing that the next call has is smaller than what this one has. */
function isGivenTheSame(call: CallExpression, func: Func): boolean {
  const given = call.arguments.map((argument) => (argument.type === 'Identifier' ? argument.name : ''));
  const taken = func.params.map((parameter) =>
    parameter.type === 'Identifier' ? parameter.name : undefined,
  );
  return given.length > 0 && given.length <= taken.length && given.every((name, at) => name === taken[at]);
}

/**
 * Whatever waits for others and begins again has an end, and hears that its caller has left: loops that await, and have
 * no bound in their header, and functions that await and call themselves with what they were given, are written with
 * `turns` of @customer-platform/http. What ends with its process alone says so where it disables the rule.
 */
export const noEndlessTurns: Rule.RuleModule = {
  meta: {
    type: 'problem',
    schema: [],
    messages: {
      endless:
        'No bound in its header: write `for await (const turn of turns({ … }))`, and say what is after the last.',
      again:
        'Calls itself with what it was given, without an end: write `for await (const turn of turns({ … }))`.',
    },
  },
  create(context) {
    const told = new Set<Node>();
    const tellLoops = (node: Node): void => {
      for (const loop of loopsAround(node as Placed)) {
        if (told.has(loop) || !isUnbound(loop.test)) continue;
        told.add(loop);
        context.report({ node: loop, messageId: 'endless' });
      }
    };
    return {
      AwaitExpression: tellLoops,
      YieldExpression: tellLoops,
      'ForOfStatement[await=true]': tellLoops,
      CallExpression(node: Placed<CallExpression>) {
        const func = functionAround(node);
        if (func?.async !== true || calledName(node) !== nameOf(func) || nameOf(func) === undefined) return;
        if (isGivenTheSame(node, func) || (node.arguments.length === 0 && func.params.length === 0))
          context.report({ node, messageId: 'again' });
      },
    };
  },
};
