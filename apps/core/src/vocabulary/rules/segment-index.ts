import type { DeclaredAttribute, DeclaredAttributes } from '../attributes/declared-attributes.js';
import { byDeclaredTypes } from './declared-values.js';
import { evaluate, type Facts } from './evaluate.js';
import { parseRule } from './parse-rule.js';
import { askedOf, leavesOf, type Asked, type EventNode, type PropertyTest, type RuleNode } from './rule.js';

interface LiveRow {
  id: string;
  rule: unknown;
  phase: 'waiting' | 'conditions' | 'contacts' | null;
  cause: string | null;
}

/** Live segments of an organization with all that they ask for, as of one instant. */
export interface LiveSegments {
  readonly revision: string | null;
  readonly segments: readonly LiveRow[];
  /** Those that are kept for the rules. */
  readonly conditions: readonly { readonly id: string; readonly fingerprint: string }[];
  readonly attributes: readonly (DeclaredAttribute & { readonly key: string })[];
}

/** A segment as evaluation knows it. */
export interface LiveSegment extends Asked {
  readonly id: string;
  readonly node: RuleNode;
  /** Not before what its conditions ask of the past has been looked up, nor while an attribute it asks for is converted. */
  readonly evaluated: boolean;
  /** While all contacts are gone through, whoever enters or leaves does so because of the rule. */
  readonly buildCause: string | null;
}

/** What rules ask of events, once for all that ask the same. */
export interface Condition {
  readonly id: string;
  readonly event: string;
  readonly where: readonly PropertyTest[];
}

/** A change of a contact is named by keys, and each segment is found by the keys of what its rule asks for. */
export const KEYS = {
  /** Everything may be otherwise. */
  all: '*',
  /** The contact is new. */
  created: 'new',
  condition: (id: string): string => `c:${id}`,
  field: (name: string): string => `f:${name}`,
  purpose: (purpose: string): string => `p:${purpose}`,
} as const;

/** Set when a contact comes to be, and never again. */
const BORN_WITH = ['source', 'created_at'];

const NOTHING_KNOWN: Facts = {
  attribute: () => undefined,
  said: () => [],
  occurrences: () => ({ past: [], future: [] }),
};

/**
 * The live segments of an organization, found by what a change touches: its cost is theirs, and not that of all. With
 * them what is declared of the attributes that they compare.
 */
export class SegmentIndex {
  readonly revision: string | null;
  readonly segments = new Map<string, LiveSegment>();
  readonly declared: DeclaredAttributes;
  /** Of the rules and the definitions, as JSON. */
  bytes = 0;
  private readonly byKey = new Map<string, LiveSegment[]>();
  private readonly byEvent = new Map<string, Condition[]>();
  private readonly byFingerprint = new Map<string, Condition>();

  constructor({ revision, segments, conditions, attributes }: LiveSegments) {
    this.revision = revision;
    this.declared = new Map(attributes.map(({ key, ...attribute }) => [key, attribute]));
    if (attributes.length > 0) this.bytes += Buffer.byteLength(JSON.stringify(attributes));
    const conditionIds = new Map(conditions.map(({ id, fingerprint }) => [fingerprint, id]));
    for (const row of segments) this.add(row, conditionIds);
  }

  get empty(): boolean {
    return this.segments.size === 0;
  }

  /** The conditions on events of a name; those still being built as well. */
  conditionsOn(event: string): readonly Condition[] {
    return this.byEvent.get(event) ?? [];
  }

  conditionOf({ fingerprint }: EventNode): Condition {
    const condition = this.byFingerprint.get(fingerprint);
    if (!condition) throw new Error('A rule asks for a condition that is not kept');
    return condition;
  }

  /** Whether a segment is evaluated, and by the same counts as this rule asks for. */
  keepsMatchesOf(segmentId: string, { events }: Asked): boolean {
    const segment = this.segments.get(segmentId);
    return (
      Boolean(segment?.evaluated) && events.every(({ fingerprint }) => this.byFingerprint.has(fingerprint))
    );
  }

  /** Those of the keys by which some segment can be found. */
  known(keys: readonly string[]): string[] {
    return keys.filter((key) => this.byKey.has(key));
  }

  /** The segments that a change with this key may move a contact into or out of. */
  touchedBy(key: string): readonly LiveSegment[] {
    return this.byKey.get(key) ?? [];
  }

  private add(row: LiveRow, conditionIds: ReadonlyMap<string, string>): void {
    this.bytes += Buffer.byteLength(JSON.stringify(row.rule));
    const node = byDeclaredTypes(parseRule(row.rule), this.declared);
    const asked = askedOf(node);
    const paths = leavesOf(node).flatMap((leaf) => (leaf.kind === 'attribute' ? leaf.path : []));
    const segment: LiveSegment = {
      id: row.id,
      node,
      ...asked,
      evaluated: row.phase === null || row.phase === 'contacts',
      buildCause: row.cause,
    };
    this.segments.set(row.id, segment);
    const keys = new Set([KEYS.all, ...asked.purposes.map(KEYS.purpose), ...paths.flatMap(fieldKeys)]);
    for (const leaf of asked.events) keys.add(KEYS.condition(this.keep(leaf, conditionIds)));
    // Of a contact of whom nothing is known most rules say no: only the others ask for those that come to be.
    const { holds } = evaluate(node, NOTHING_KNOWN, 0);
    if (holds || paths.some((path) => BORN_WITH.includes(path))) keys.add(KEYS.created);
    for (const key of keys) addTo(this.byKey, key, segment);
  }

  private keep({ event, where, fingerprint }: EventNode, ids: ReadonlyMap<string, string>): string {
    const known = this.byFingerprint.get(fingerprint);
    if (known) return known.id;
    const id = ids.get(fingerprint);
    if (id === undefined) throw new Error('A rule asks for a condition that is not kept');
    const condition = { id, event, where };
    this.byFingerprint.set(fingerprint, condition);
    addTo(this.byEvent, event, condition);
    return id;
  }
}

/** In place: a copy for each would cost the square of what many segments have in common. */
function addTo<T>(lists: Map<string, T[]>, key: string, item: T): void {
  const list = lists.get(key);
  if (list) list.push(item);
  else lists.set(key, [item]);
}

/** A path into an attribute is changed by a change of any key that it may begin with. */
function fieldKeys(path: string): string[] {
  const parts = path.split('.');
  if (parts.length <= 2) return [KEYS.field(path)];
  return parts.slice(1).map((_, index) => KEYS.field(parts.slice(0, index + 2).join('.')));
}
