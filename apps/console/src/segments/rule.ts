import type { Schemas } from '@customer-platform/client';
import { CONTACT_FIELD_NAMES } from '../people/contact-fields.ts';

/** A rule as the API describes it. */
export type WrittenRule = Schemas['CreateSegmentDto']['rule'];

/** What a value of JSON can be compared with. */
type Scalar = string | number | boolean;

/** The operators of attributes and of properties (core.md §7). */
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
export type Op = (typeof OPS)[number];

/** The operators of a count of events. */
export const COUNT_OPS = ['gte', 'eq', 'ne', 'gt', 'lt', 'lte'] as const;
export type CountOp = (typeof COUNT_OPS)[number];

/** The fields of a contact that a rule can ask for, beside `attributes.<key>`. */
export const RULE_FIELDS = [...CONTACT_FIELD_NAMES, 'source', 'created_at'] as const;

export const PURPOSES = [
  'marketing',
  'loyalty',
  'profiling',
  'analytics',
  'research',
  'third_party_sharing',
] as const;
export const CONSENT_CHANNELS = ['email', 'in_app', 'push', 'sms', 'whatsapp'] as const;
export const CONSENT_STATES = ['granted', 'expired', 'denied', 'withdrawn'] as const;

export const DEEPEST = 8;
export const MOST_LEAVES = 50;

/** A value as it is typed, and the type as which it is read. */
export interface Draft {
  as: 'text' | 'number' | 'boolean';
  /** A number as JSON writes it, whatever the language in which it was typed. */
  text: string;
  /** The text of the field, where it differs: `12.990` for 12990. */
  typed?: string;
}

/** An operator with its value, as it is being written; `drafts` has one but for `in`. */
export interface TestDraft {
  op: Op;
  drafts: readonly Draft[];
}

export interface Condition extends TestDraft {
  key: string;
  property: string;
}

export interface Group {
  key: string;
  kind: 'all' | 'any';
  nodes: readonly Node[];
}

export interface Negation {
  key: string;
  kind: 'not';
  node: Node;
}

export interface AttributeLeaf extends TestDraft {
  key: string;
  kind: 'attribute';
  path: string;
}

export interface ConsentLeaf {
  key: string;
  kind: 'consent';
  purpose: string;
  /** Undefined: not said; null: said to be about all channels. Both ask for the same. */
  channel: string | null | undefined;
  status: string;
}

export interface EventLeaf {
  key: string;
  kind: 'event';
  event: string;
  where: readonly Condition[] | undefined;
  count: { op: CountOp; text: string } | undefined;
  within: string | undefined;
}

/** What this version of the builder does not know: kept as it is, shown as JSON. */
interface Unknown {
  key: string;
  kind: 'unknown';
  json: unknown;
}

export type Leaf = AttributeLeaf | ConsentLeaf | EventLeaf | Unknown;

/** A rule as it is being built. */
export type Node = Group | Negation | Leaf;

/** A key that no other node of this page has. */
export type NewKey = () => string;

/** Keys by counting. */
export function countedKeys(): NewKey {
  let last = 0;
  return () => `n${(last += 1)}`;
}

/** A rule as the builder holds it. What it does not know becomes a node that stays as it is. */
export function toBuilder(rule: unknown, newKey: NewKey): Node {
  const known = isRecord(rule) ? structured(rule, newKey) : undefined;
  return known ?? { key: newKey(), kind: 'unknown', json: rule };
}

/** A rule as the API takes it; unfinished values are left out, and the API would refuse them. */
export function toRule(node: Node): unknown {
  switch (node.kind) {
    case 'all':
    case 'any':
      return { [node.kind]: node.nodes.map(toRule) };
    case 'not':
      return { not: toRule(node.node) };
    case 'attribute':
      return { attribute: node.path, ...testOf(node) };
    case 'consent':
      return {
        consent: {
          purpose: node.purpose,
          ...(node.channel === undefined ? {} : { channel: node.channel }),
        },
        status: node.status,
      };
    case 'event':
      return eventOf(node);
    case 'unknown':
      return node.json;
  }
}

function eventOf({ event, where, count, within }: EventLeaf): object {
  return {
    event,
    ...(where === undefined
      ? {}
      : { where: where.map((each) => ({ property: each.property, ...testOf(each) })) }),
    ...(count === undefined ? {} : { count: { op: count.op, value: numberOf(count.text) } }),
    ...(within === undefined ? {} : { within }),
  };
}

/** A test as the API takes it. */
export function testOf({ op, drafts }: TestDraft): { op: Op; value: unknown } {
  const values = drafts.map(valueOf);
  return { op, value: op === 'in' ? values : values[0] };
}

/** What a draft says; undefined while it says nothing. */
export function valueOf({ as, text }: Draft): Scalar | undefined {
  if (as === 'text') return text;
  return as === 'boolean' ? text === 'true' : numberOf(text);
}

function numberOf(text: string): number | undefined {
  const number = Number(text);
  return text.trim() === '' || !Number.isFinite(number) ? undefined : number;
}

/** A value as it is typed. */
function draftOf(value: Scalar): Draft {
  const as = typeof value === 'string' ? 'text' : typeof value === 'number' ? 'number' : 'boolean';
  return { as, text: String(value) };
}

function structured(rule: Record<string, unknown>, newKey: NewKey): Node | undefined {
  const key = newKey();
  for (const kind of ['all', 'any'] as const) {
    const parts = rule[kind];
    if (!hasOnly(rule, [kind]) || !Array.isArray(parts)) continue;
    return { key, kind, nodes: parts.map((part) => toBuilder(part, newKey)) };
  }
  if (hasOnly(rule, ['not'])) return { key, kind: 'not', node: toBuilder(rule['not'], newKey) };
  return attributeLeaf(rule, key) ?? consentLeaf(rule, key) ?? eventLeaf(rule, key, newKey);
}

function attributeLeaf(rule: Record<string, unknown>, key: string): AttributeLeaf | undefined {
  const { attribute: path } = rule;
  const test = testDraft(rule);
  if (!hasOnly(rule, ['attribute', 'op', 'value']) || typeof path !== 'string' || !test) return undefined;
  return { key, kind: 'attribute', path, ...test };
}

function consentLeaf(rule: Record<string, unknown>, key: string): ConsentLeaf | undefined {
  const { consent, status } = rule;
  if (!hasOnly(rule, ['consent', 'status']) || typeof status !== 'string') return undefined;
  if (!isRecord(consent) || typeof consent['purpose'] !== 'string') return undefined;
  const { purpose, channel } = consent;
  if (!hasOnly(consent, 'channel' in consent ? ['purpose', 'channel'] : ['purpose'])) return undefined;
  if (channel !== undefined && channel !== null && typeof channel !== 'string') return undefined;
  return { key, kind: 'consent', purpose, channel, status };
}

function eventLeaf(rule: Record<string, unknown>, key: string, newKey: NewKey): EventLeaf | undefined {
  const { event, where, count, within } = rule;
  const members = ['event', 'where', 'count', 'within'].filter((name) => name === 'event' || name in rule);
  if (!hasOnly(rule, members) || typeof event !== 'string') return undefined;
  const conditions = where === undefined ? [] : conditionsOf(where, newKey);
  const counted = count === undefined ? undefined : countOf(count);
  if (!conditions || counted === null) return undefined;
  if (within !== undefined && typeof within !== 'string') return undefined;
  return {
    key,
    kind: 'event',
    event,
    where: where === undefined ? undefined : conditions,
    count: counted,
    within,
  };
}

function conditionsOf(where: unknown, newKey: NewKey): Condition[] | undefined {
  if (!Array.isArray(where)) return undefined;
  const conditions = where.map((each: unknown) => {
    if (!isRecord(each) || !hasOnly(each, ['property', 'op', 'value'])) return undefined;
    const { property } = each;
    const test = testDraft(each);
    return typeof property === 'string' && test ? { key: newKey(), property, ...test } : undefined;
  });
  return conditions.every((each) => each !== undefined) ? conditions : undefined;
}

function countOf(count: unknown): EventLeaf['count'] | null {
  if (!isRecord(count) || !hasOnly(count, ['op', 'value'])) return null;
  const { op, value } = count;
  if (!isOneOf(COUNT_OPS, op) || typeof value !== 'number') return null;
  return { op, text: String(value) };
}

/** A test as it is being written; undefined where it is of a kind that is not known here. */
export function testDraft({ op, value }: Record<string, unknown>): TestDraft | undefined {
  if (!isOneOf(OPS, op)) return undefined;
  const values: unknown[] | undefined = op !== 'in' ? [value] : Array.isArray(value) ? value : undefined;
  return values?.every(isScalar) ? { op, drafts: values.map(draftOf) } : undefined;
}

/** Whether it has these members, all of them and no other. */
function hasOnly(record: Record<string, unknown>, names: readonly string[]): boolean {
  return Object.keys(record).length === names.length && names.every((name) => Object.hasOwn(record, name));
}

/** Whether a value is one of a list of words. */
export function isOneOf<Word extends string>(words: readonly Word[], value: unknown): value is Word {
  return (words as readonly unknown[]).includes(value);
}

function isScalar(value: unknown): value is Scalar {
  return ['string', 'number', 'boolean'].includes(typeof value);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
