import { hash } from 'node:crypto';

/** From a leaf to the root: the hash beside it on each level, and on which side that stands. */
export interface Step {
  readonly side: 'left' | 'right';
  readonly hash: Buffer;
}

const NODE = Buffer.from('node\n');

/**
 * The root of a tree of hashes over these leaves, and the way from each leaf to it (as RFC 9162 §2.1 builds it: what has
 * no neighbour goes up as it is). Leaves must be hashes that no node can have.
 */
export function treeOf(leaves: readonly Buffer[]): { root: Buffer; paths: Step[][] } {
  const paths = leaves.map((): Step[] => []);
  let level = leaves.map((leaf, at) => ({ leaf, below: [at] }));
  while (level.length > 1) {
    const above: typeof level = [];
    for (let at = 0; at < level.length; at += 2) {
      const [left, right] = [level[at], level[at + 1]];
      if (left && right) {
        for (const place of left.below) paths[place]?.push({ side: 'right', hash: right.leaf });
        for (const place of right.below) paths[place]?.push({ side: 'left', hash: left.leaf });
        above.push({ leaf: nodeOf(left.leaf, right.leaf), below: [...left.below, ...right.below] });
      } else if (left) above.push(left);
    }
    level = above;
  }
  return { root: level[0]?.leaf ?? nodeOf(Buffer.alloc(0), Buffer.alloc(0)), paths };
}

/** The node to which a step leads. */
export function nodeAbove(at: Buffer, { side, hash: beside }: Step): Buffer {
  return side === 'left' ? nodeOf(beside, at) : nodeOf(at, beside);
}

function nodeOf(left: Buffer, right: Buffer): Buffer {
  return hash('sha256', Buffer.concat([NODE, left, right]), 'buffer');
}
