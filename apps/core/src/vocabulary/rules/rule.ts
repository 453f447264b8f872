/** How two values are compared; what an absent value does is said where each is applied. */
export const OPS = [
  'eq',
  'ne',
  'gt',
  'gte',
  'lt',
  'lte',
  'in',
  'contains',
  'prefix',
  'exists',
  'within_last',
] as const;

/** An operator of attributes and of properties. */
export type Op = (typeof OPS)[number];

/** The operators of a count. */
export const COUNT_OPS = ['eq', 'ne', 'gt', 'gte', 'lt', 'lte'] as const;

/** An operator of a count. */
export type CountOp = (typeof COUNT_OPS)[number];

/** What a value of JSON can be compared with. */
export type Scalar = string | number | boolean;

/** A comparison that was checked: the value fits the operator. */
export type Test =
  | { readonly op: 'eq' | 'ne'; readonly value: Scalar }
  | { readonly op: 'gt' | 'gte' | 'lt' | 'lte'; readonly value: string | number }
  | { readonly op: 'in'; readonly values: readonly Scalar[] }
  | { readonly op: 'contains'; readonly value: Scalar }
  | { readonly op: 'prefix'; readonly value: string }
  | { readonly op: 'exists'; readonly value: boolean }
  | { readonly op: 'within_last'; readonly ms: number };

/** A condition on one property of an event. */
export interface PropertyTest {
  readonly property: string;
  readonly test: Test;
}

/** A condition on the contact itself: a field, or `attributes.<key>`. */
interface AttributeNode {
  readonly kind: 'attribute';
  readonly path: string;
  readonly test: Test;
}

/** A condition on what the contact has agreed to; a null channel asks for the state about all channels. */
export interface ConsentNode {
  readonly kind: 'consent';
  readonly purpose: string;
  readonly channel: string | null;
  readonly status: string;
}

/** A condition on how many events of the contact match. */
export interface EventNode {
  readonly kind: 'event';
  readonly event: string;
  readonly where: readonly PropertyTest[];
  readonly count: { readonly op: CountOp; readonly value: number };
  /** Length of the window in milliseconds; infinite without `within`. */
  readonly withinMs: number;
  /** Equal for all that match the same events, whatever they count: they share what is kept of them. */
  readonly fingerprint: string;
}

/** What a rule is made of at its ends. */
export type Leaf = AttributeNode | ConsentNode | EventNode;

/** A rule that was checked and can be evaluated. */
export type RuleNode =
  | { readonly kind: 'all' | 'any'; readonly nodes: readonly RuleNode[] }
  | { readonly kind: 'not'; readonly node: RuleNode }
  | Leaf;

/** The leaves of a rule, from left to right. */
export function leavesOf(node: RuleNode): Leaf[] {
  switch (node.kind) {
    case 'all':
    case 'any':
      return node.nodes.flatMap(leavesOf);
    case 'not':
      return leavesOf(node.node);
    default:
      return [node];
  }
}

/** What rules ask of a contact. */
export interface Asked {
  readonly events: readonly EventNode[];
  readonly purposes: readonly string[];
  readonly asksAttributes: boolean;
}

/** What a rule asks of a contact. */
export function askedOf(node: RuleNode): Asked {
  const leaves = leavesOf(node);
  return {
    events: leaves.filter((leaf) => leaf.kind === 'event'),
    purposes: [...new Set(leaves.flatMap((leaf) => (leaf.kind === 'consent' ? leaf.purpose : [])))],
    asksAttributes: leaves.some(({ kind }) => kind === 'attribute'),
  };
}
