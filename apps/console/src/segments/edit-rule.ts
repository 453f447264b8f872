import type { Group, Leaf, Negation, NewKey, Node } from './rule.ts';

/** What holds other nodes. */
type Holder = Group | Negation;

const isGroup = (node: Node): node is Group => node.kind === 'all' || node.kind === 'any';

/** Whether a node is a condition, and holds no other. */
export function isLeaf(node: Node): node is Leaf {
  return !isGroup(node) && node.kind !== 'not';
}

/** The nodes directly inside. */
export function insideOf(node: Node): readonly Node[] {
  if (isGroup(node)) return node.nodes;
  return node.kind === 'not' ? [node.node] : [];
}

/** What a node is inside of, from the root on; undefined where it is not in the rule. */
export function holdersOf(root: Node, key: string): Holder[] | undefined {
  if (root.key === key) return [];
  for (const inner of insideOf(root)) {
    const found = holdersOf(inner, key);
    if (found) return [root as Holder, ...found];
  }
  return undefined;
}

/** How deep a node goes; 1 for a leaf. */
export function depthOf(node: Node): number {
  return 1 + Math.max(0, ...insideOf(node).map(depthOf));
}

/** How many conditions a node has. */
export function leavesIn(node: Node): number {
  if (isLeaf(node)) return 1;
  return insideOf(node).reduce((sum, inner) => sum + leavesIn(inner), 0);
}

/** Puts what `change` makes of a node in its place. */
export function replace(root: Node, key: string, change: (node: Node) => Node): Node {
  if (root.key === key) return change(root);
  if (root.kind === 'not') return { ...root, node: replace(root.node, key, change) };
  if (isGroup(root)) return { ...root, nodes: root.nodes.map((node) => replace(node, key, change)) };
  return root;
}

/** Puts a node at the end of a group. */
export function add(root: Node, groupKey: string, node: Node): Node {
  return replace(root, groupKey, (group) =>
    isGroup(group) ? { ...group, nodes: [...group.nodes, node] } : group,
  );
}

/** Takes a node away; a negation goes with what it negates. Undefined where nothing is left. */
export function remove(root: Node, key: string): Node | undefined {
  if (root.key === key) return undefined;
  if (root.kind === 'not') {
    const node = remove(root.node, key);
    return node && { ...root, node };
  }
  if (!isGroup(root)) return root;
  return { ...root, nodes: root.nodes.flatMap((node) => remove(node, key) ?? []) };
}

/** Moves a node among its neighbours; as it is where there is no room. */
export function move(root: Node, key: string, by: -1 | 1): Node {
  const group = holdersOf(root, key)?.at(-1);
  if (group === undefined || !isGroup(group)) return root;
  const from = group.nodes.findIndex((node) => node.key === key);
  const [neighbour, moved] = [group.nodes[from + by], group.nodes[from]];
  if (neighbour === undefined || moved === undefined) return root;
  const nodes = group.nodes.with(from, neighbour).with(from + by, moved);
  return replace(root, group.key, () => ({ ...group, nodes }));
}

/** Puts a node into a group, or a negation, of its own. */
export function nest(root: Node, key: string, kind: 'all' | 'any' | 'not', newKey: NewKey): Node {
  return replace(root, key, (node) =>
    kind === 'not' ? { key: newKey(), kind, node } : { key: newKey(), kind, nodes: [node] },
  );
}

/**
 * Takes a node one level up: behind the group that it was in, or in the place of what held it alone. Undefined where
 * that would change what it is part of: out of a negated group of several.
 */
export function lift(root: Node, key: string): Node | undefined {
  const holders = holdersOf(root, key) ?? [];
  const [outer, holder] = [holders.at(-2), holders.at(-1)];
  const node = holder && insideOf(holder).find((inner) => inner.key === key);
  if (holder === undefined || node === undefined) return undefined;
  if (insideOf(holder).length === 1) return replace(root, holder.key, () => node);
  if (outer === undefined || !isGroup(outer)) return undefined;
  const without = remove(holder, key);
  const nodes = outer.nodes.flatMap((inner) =>
    inner.key === holder.key ? (without ? [without, node] : [node]) : [inner],
  );
  return replace(root, outer.key, () => ({ ...outer, nodes }));
}
