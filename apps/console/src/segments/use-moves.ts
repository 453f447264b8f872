import { useBuilder } from './builder-context.ts';
import { depthOf, holdersOf, insideOf, lift, move, nest, remove } from './edit-rule.ts';
import { DEEPEST, type Node } from './rule.ts';

/** What one can do with a node; undefined: not here. */
export interface Moves {
  up: (() => void) | undefined;
  down: (() => void) | undefined;
  lift: (() => void) | undefined;
  nest: (() => void) | undefined;
  negate: (() => void) | undefined;
  remove: () => void;
}

export function useMoves(node: Node): Moves {
  const { root, change, newKey } = useBuilder();
  const { key } = node;
  const holder = holdersOf(root, key)?.at(-1);
  const among = holder ? insideOf(holder) : [];
  const at = among.findIndex((inner) => inner.key === key);
  const lifted = lift(root, key);
  const moved = (by: -1 | 1) => () => change(move(root, key, by), key);
  const into = (kind: 'all' | 'not') => {
    const nested = nest(root, key, kind, newKey);
    return depthOf(nested) > DEEPEST ? undefined : () => change(nested, key);
  };
  return {
    up: at > 0 ? moved(-1) : undefined,
    down: at >= 0 && at < among.length - 1 ? moved(1) : undefined,
    lift: lifted && (() => change(lifted, key)),
    nest: into('all'),
    negate: into('not'),
    remove: () => {
      const neighbour = among[at + 1] ?? among[at - 1] ?? holder;
      const left = remove(root, key) ?? { key: newKey(), kind: 'all', nodes: [] };
      change(left, neighbour?.key ?? left.key);
    },
  };
}
