import type { RequestContext } from '@customer-platform/http';
import { consentState, countInside, evaluate, type Facts } from '../../vocabulary/rules/evaluate.js';
import { mayRead } from '../../vocabulary/rules/read-permissions.js';
import type { Leaf, RuleNode } from '../../vocabulary/rules/rule.js';

/** Whose permissions say which values are shown. */
export type Sight = Pick<RequestContext, 'can'>;

/** What a leaf was compared with: a value, null where there is none, or how many events happened in a window. */
type Actual =
  | { readonly value: unknown }
  | {
      readonly count: number;
      /** Or else there may be more. */
      readonly exact: boolean;
      /** The window: after this instant, or ever, and up to that one. */
      readonly after: string | null;
      readonly until: string;
    };

/** A rule with what each of its nodes says: `result`, and of a leaf what it was compared with as `actual`. */
export type ExplainedRule = Readonly<Record<string, unknown>> & { readonly result: boolean };

/**
 * A rule as it was written, each node with its result by the evaluation that membership comes from. `actual` is null where
 * the caller may not see it.
 */
export function explainRule(
  rule: unknown,
  node: RuleNode,
  facts: Facts,
  now: number,
  sight: Sight,
): ExplainedRule {
  const { holds: result } = evaluate(node, facts, now);
  const written = rule as Record<string, unknown>;
  switch (node.kind) {
    case 'all':
    case 'any': {
      const parts = written[node.kind] as readonly unknown[];
      const nodes = node.nodes.map((each, at) => explainRule(parts[at], each, facts, now, sight));
      return { [node.kind]: nodes, result };
    }
    case 'not':
      return { not: explainRule(written['not'], node.node, facts, now, sight), result };
    default:
      return {
        ...written,
        result,
        actual: mayRead(sight, node) ? actualOf(node, facts, now) : null,
      };
  }
}

function actualOf(leaf: Leaf, facts: Facts, now: number): Actual {
  switch (leaf.kind) {
    case 'attribute':
      return { value: facts.attribute(leaf.path) ?? null };
    case 'consent':
      return { value: consentState(leaf, facts.said(leaf.purpose), now).state ?? null };
    case 'event': {
      const { past, allAfter = -Infinity } = facts.occurrences(leaf);
      return {
        count: countInside(leaf, past, now),
        exact: allAfter <= now - leaf.withinMs,
        after: leaf.withinMs === Infinity ? null : new Date(now - leaf.withinMs).toISOString(),
        until: new Date(now).toISOString(),
      };
    }
  }
}
