import type { Rule } from 'eslint';
import type {
  CallExpression,
  DoWhileStatement,
  ForStatement,
  Identifier,
  MemberExpression,
  Node,
  WhileStatement,
} from 'estree';
import { isUnbound } from './no-endless-turns.rule.ts';

type Placed<T extends Node = Node> = T & Rule.NodeParentExtension;

/** A timer, and whose body it is set in: a method's, or a function's. */
interface Timer {
  readonly node: Node;
  readonly by: string;
  readonly calls: Set<string>;
}

const named = (node: Node, prefix = ''): string | undefined =>
  node.type === 'Identifier' ? prefix + node.name : undefined;

/** `look`, or `this.look`. */
function nameOf(node: Node): string | undefined {
  if (node.type !== 'MemberExpression') return named(node);
  return node.object.type === 'ThisExpression' ? named(node.property, 'this.') : undefined;
}

/** The method or function that a node stands in, however deep. */
function placeOf(node: Placed): string | undefined {
  let place: string | undefined;
  for (let at: Placed | null = node; at; at = at.parent as Placed | null) {
    if (at.type === 'MethodDefinition' || at.type === 'PropertyDefinition') return named(at.key, 'this.');
    if (at.type === 'FunctionDeclaration') place = named(at.id) ?? place;
  }
  return place;
}

/** The call of `setTimeout` whose function a node stands in. */
function timerAround(node: Placed): Node | undefined {
  for (let at = node; at.parent as Placed | null; at = at.parent as Placed) {
    const { parent } = at;
    if (
      parent.type === 'CallExpression' &&
      named(parent.callee) === 'setTimeout' &&
      parent.arguments[0] === at
    )
      return parent;
  }
  return undefined;
}

/** Whether a header asks for nothing but whether its own process, or object, is to stop. */
function asksWhetherToStop(node: unknown): boolean {
  if (Array.isArray(node)) return node.some(asksWhetherToStop);
  if (typeof node !== 'object' || node === null || !('type' in node)) return false;
  const { type } = node as Node;
  if (type === 'MemberExpression') {
    const { object } = node as MemberExpression;
    if (object.type !== 'ThisExpression') return false;
  }
  if (type === 'Identifier') return /^(?:is)?stopp(?:ing|ed)$/iu.test((node as Identifier).name);
  return Object.entries(node).some(([key, value]) => key !== 'parent' && asksWhetherToStop(value));
}

/** Whether one comes to the other by calls within the file. */
function leadsTo(calls: ReadonlyMap<string, ReadonlySet<string>>, from: string, to: string): boolean {
  const seen = new Set([from]);
  for (const at of seen) {
    if (at === to) return true;
    for (const next of calls.get(at) ?? []) seen.add(next);
  }
  return false;
}

/**
 * Work beside requests begins where it is noted: a `PollingJob`, a `SteadyLoop`, or a consumer of the event bus. Intervals,
 * timers that set themselves again, loops that end with their process, and Kafka's own consumers are refused elsewhere: each
 * would be work that no test knows of. What only keeps house in memory says so where it disables the rule.
 */
export const registeredWork: Rule.RuleModule = {
  meta: {
    type: 'problem',
    schema: [],
    messages: {
      interval: 'Work that nobody knows of: make it a PollingJob, or say why it takes nothing of a tenant’s.',
      again: 'This timer sets itself again: make it a PollingJob, or say why it takes nothing of a tenant’s.',
      loop: 'A loop that ends with its process is a SteadyLoop or a PollingJob, which are known by name.',
      consumer: 'Consumers are started by the event bus: RecordConsumers, or @OnEvent.',
    },
  },
  create(context) {
    const calls = new Map<string, Set<string>>();
    const timers = new Map<Node, Timer>();
    const note = (node: Placed, called: string): void => {
      const by = placeOf(node);
      const timer = timerAround(node);
      if (by === undefined) return;
      calls.set(by, (calls.get(by) ?? new Set()).add(called));
      if (timer) timers.get(timer)?.calls.add(called);
    };
    const tellLoop = (node: ForStatement | WhileStatement | DoWhileStatement): void => {
      if (isUnbound(node.test) && asksWhetherToStop(node.test)) context.report({ node, messageId: 'loop' });
    };
    return {
      ForStatement: tellLoop,
      WhileStatement: tellLoop,
      DoWhileStatement: tellLoop,
      CallExpression(node: Placed<CallExpression>) {
        const { callee, arguments: given } = node;
        const name = nameOf(callee);
        if (name === 'setInterval') context.report({ node, messageId: 'interval' });
        if (name === 'setTimeout') {
          const by = placeOf(node);
          const [run] = given;
          const called = run && nameOf(run);
          if (by !== undefined)
            timers.set(node, { node, by, calls: new Set(called === undefined ? [] : [called]) });
        } else if (name !== undefined) note(node, name);
        if (callee.type === 'MemberExpression' && named(callee.property) === 'run' && isKafkas(given[0]))
          context.report({ node, messageId: 'consumer' });
      },
      'Program:exit'() {
        for (const { node, by, calls: called } of timers.values())
          if ([...called].some((name) => leadsTo(calls, name, by)))
            context.report({ node, messageId: 'again' });
      },
    };
  },
};

/** The settings of a consumer of kafkajs. */
function isKafkas(given: Node | undefined): boolean {
  if (given?.type !== 'ObjectExpression') return false;
  return given.properties.some(
    (property) => property.type === 'Property' && /^each(?:Batch|Message)$/u.test(named(property.key) ?? ''),
  );
}
