import type { ConsentNode, CountOp, EventNode, RuleNode } from './rule.js';
import { nextTurn, passes } from './values.js';

/** When matching events of a contact happened, in milliseconds. */
export interface Occurrences {
  /** Up to now, newest first. The newest `count.value + 1` suffice: more would change no answer. */
  readonly past: readonly number[];
  /** All of the past that are later are known; without it, all. */
  readonly allAfter?: number;
  /** After now, oldest first. */
  readonly future: readonly number[];
}

/** Something a contact has said about a purpose. */
export interface Said {
  readonly channel: string | null;
  readonly status: string;
  readonly occurredAt: number;
  readonly expiresAt: number | null;
}

/** What a rule may ask of a contact. */
export interface Facts {
  attribute(path: string): unknown;
  /** All that was said about a purpose, in any order. */
  said(purpose: string): readonly Said[];
  occurrences(node: EventNode): Occurrences;
}

/** What a rule says of a contact at an instant. */
interface Verdict {
  readonly holds: boolean;
  /** No earlier than this can time alone change it, in milliseconds; infinite if never. */
  readonly next: number;
}

/**
 * What a rule says of a contact, from the facts alone: the meaning of the language (core.md §7), and what membership
 * must equal at any time. `facts` are of the instant `now`, in milliseconds.
 */
export function evaluate(node: RuleNode, facts: Facts, now: number): Verdict {
  switch (node.kind) {
    case 'all':
    case 'any':
      return joined(
        node.nodes.map((each) => evaluate(each, facts, now)),
        node.kind === 'all',
      );
    case 'not': {
      const { holds, next } = evaluate(node.node, facts, now);
      return { holds: !holds, next };
    }
    case 'attribute': {
      const value = facts.attribute(node.path);
      return { holds: passes(value, node.test, now), next: nextTurn(value, node.test, now) };
    }
    case 'consent':
      return consented(node, facts.said(node.purpose), now);
    case 'event':
      return counted(node, facts.occurrences(node), now);
  }
}

/**
 * `all` and `any` are each other's mirror: one part decides against the rule by itself. While some do, all of those
 * must turn before the rule can, the last of them at the earliest.
 */
function joined(parts: readonly Verdict[], all: boolean): Verdict {
  const deciding = parts.filter(({ holds }) => holds !== all);
  if (deciding.length === 0) return { holds: all, next: Math.min(...parts.map(({ next }) => next)) };
  return { holds: !all, next: Math.max(...deciding.map(({ next }) => next)) };
}

const STRICTNESS = ['withdrawn', 'denied', 'expired', 'granted'];

function consented(node: ConsentNode, said: readonly Said[], now: number): Verdict {
  const { state, next } = consentState(node, said, now);
  return { holds: state === node.status, next };
}

/** core.md §5: the latest word on the channel or on all channels decides, of several at one instant the strictest. */
export function consentState(
  { channel }: ConsentNode,
  said: readonly Said[],
  now: number,
): { state: string | undefined; next: number } {
  let latest: { status: string; occurredAt: number } | undefined;
  let next = Infinity;
  for (const word of said) {
    if (word.channel !== null && word.channel !== channel) continue;
    if (word.occurredAt > now) {
      next = Math.min(next, word.occurredAt);
      continue;
    }
    const ends = word.status === 'granted' ? (word.expiresAt ?? Infinity) : Infinity;
    const state = ends <= now ? 'expired' : word.status;
    if (ends > now) next = Math.min(next, ends);
    if (latest && !decides(word.occurredAt, state, latest)) continue;
    latest = { status: state, occurredAt: word.occurredAt };
  }
  return { state: latest?.status, next };
}

function decides(at: number, state: string, other: { status: string; occurredAt: number }): boolean {
  if (at !== other.occurredAt) return at > other.occurredAt;
  return STRICTNESS.indexOf(state) < STRICTNESS.indexOf(other.status);
}

/** now − within < occurred_at ≤ now. */
function counted(node: EventNode, { past, future }: Occurrences, now: number): Verdict {
  const inside = countInside(node, past, now);
  const next = Math.min(future[0] ?? Infinity, nextDeparture(node, past, inside));
  return { holds: allowsCount(node, inside), next };
}

/** How many of the times, newest first, are in the window. */
export function countInside({ withinMs }: EventNode, past: readonly number[], now: number): number {
  let inside = 0;
  while (inside < past.length && (past[inside] ?? 0) > now - withinMs) inside += 1;
  return inside;
}

/** Whether the condition holds of a contact with so many matching events. */
export function allowsCount({ count: { op, value } }: EventNode, actual: number): boolean {
  return comparesCount(actual, op, value);
}

/** When the window has left behind enough of the oldest for the answer to turn. */
function nextDeparture({ count, withinMs }: EventNode, past: readonly number[], inside: number): number {
  if (withinMs === Infinity) return Infinity;
  const { op, value } = count;
  const holds = comparesCount(inside, op, value);
  for (let left = inside - 1; left >= 0; left -= 1) {
    if (comparesCount(left, op, value) !== holds) return (past[left] ?? 0) + withinMs;
  }
  return Infinity;
}

function comparesCount(actual: number, op: CountOp, wanted: number): boolean {
  switch (op) {
    case 'eq':
      return actual === wanted;
    case 'ne':
      return actual !== wanted;
    case 'gt':
      return actual > wanted;
    case 'gte':
      return actual >= wanted;
    case 'lt':
      return actual < wanted;
    case 'lte':
      return actual <= wanted;
  }
}
