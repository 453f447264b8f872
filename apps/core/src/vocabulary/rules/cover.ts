import { allowsCount } from './evaluate.js';
import type { EventNode, RuleNode } from './rule.js';

/**
 * Conditions on events of which at least one holds of every contact that the rule holds of, and which nobody fulfils
 * without an event; undefined where the rule has none such. Of several the fewest.
 */
export function coverOf(node: RuleNode): readonly EventNode[] | undefined {
  switch (node.kind) {
    case 'event':
      return allowsCount(node, 0) ? undefined : [node];
    case 'any': {
      const covers = node.nodes.map(coverOf);
      return covers.every((cover) => cover !== undefined) ? covers.flat() : undefined;
    }
    case 'all':
      return node.nodes
        .map(coverOf)
        .filter((cover) => cover !== undefined)
        .sort((one, other) => one.length - other.length)[0];
    default:
      return undefined;
  }
}
