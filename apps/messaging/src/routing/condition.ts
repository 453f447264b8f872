import { z } from 'zod';
import { containsText } from '@customer-platform/http';
import { refuse } from '../shapes/refuse.js';

/** What a condition and a template look into. */
export interface ConditionScope {
  /** The domain event's `data`. */
  readonly event: Readonly<Record<string, unknown>>;
  readonly contact: Readonly<Record<string, unknown>>;
}

type Scalar = string | number | boolean;

/** One comparison. */
export interface ConditionLeaf {
  readonly path: string;
  readonly op: (typeof OPS)[number];
  readonly value: Scalar | readonly Scalar[];
}

/** A condition: all or any of its members. */
export type Condition =
  ConditionLeaf | { readonly all: readonly Condition[] } | { readonly any: readonly Condition[] };

const OPS = ['eq', 'ne', 'gt', 'gte', 'lt', 'lte', 'in', 'contains', 'prefix', 'exists'] as const;
const MOST_LEAVES = 20;
const DEEPEST = 5;
const PATH = /^(event|contact)(\.[^.\s]{1,100}){1,10}$/;
const UNSAFE = new Set(['__proto__', 'constructor', 'prototype']);

const scalar = z.union([z.string().max(1_000), z.number(), z.boolean()]);

const leaf = z
  .strictObject({
    path: z
      .string()
      .max(400)
      .refine(
        (path) => PATH.test(path) && !path.split('.').some((step) => UNSAFE.has(step)),
        'Expected a path such as event.properties.amount or contact.attributes.plan',
      ),
    op: z.enum(OPS),
    value: z.union([scalar, z.array(scalar).min(1).max(100)]),
  })
  .superRefine(({ op, value }, context) => {
    const expected = expectedValue(op);
    if (fits(value, expected)) return;
    context.addIssue({
      code: 'custom',
      path: ['value'],
      ...refuse('wrong_type', `\`${op}\` takes ${expected}`),
    });
  });

const condition: z.ZodType<Condition> = z.lazy(() =>
  z.union([z.strictObject({ all: members }), z.strictObject({ any: members }), leaf]),
);
const members = z.array(condition).min(1).max(MOST_LEAVES);

/** A condition as a rule takes it: `all` or `any` of leaves, nested a little, 20 leaves in all. */
export const ruleCondition = z
  .union([z.strictObject({ all: members }), z.strictObject({ any: members })])
  .refine((whole) => leavesOf(whole) <= MOST_LEAVES, refuse('too_long', `At most ${MOST_LEAVES} comparisons`))
  .refine((whole) => depthOf(whole) <= DEEPEST, refuse('too_long', `Nested at most ${DEEPEST} deep`));

/** Whether the scope meets the condition. A path that leads nowhere meets nothing, `ne` included. */
export function meets(whole: Condition, scope: ConditionScope): boolean {
  if ('all' in whole) return whole.all.every((member) => meets(member, scope));
  if ('any' in whole) return whole.any.some((member) => meets(member, scope));
  const found = valueAt(scope, whole.path);
  if (whole.op === 'exists') return (found !== undefined && found !== null) === whole.value;
  return found !== undefined && found !== null && compares(found, whole.op, whole.value);
}

/** Whether the scope may meet the condition, whatever is found of the contact: nothing in a condition turns it around. */
export function mayMeet(whole: Condition, scope: Pick<ConditionScope, 'event'>): boolean {
  if ('all' in whole) return whole.all.every((member) => mayMeet(member, scope));
  if ('any' in whole) return whole.any.some((member) => mayMeet(member, scope));
  return looksAtContact(whole) || meets(whole, { ...scope, contact: {} });
}

/** Whether the condition looks at the contact anywhere. */
export function looksAtContact(whole: Condition): boolean {
  return 'path' in whole ? whole.path.startsWith('contact.') : membersOf(whole).some(looksAtContact);
}

/** The value at a dotted path, own members only; undefined where it leads nowhere. */
export function valueAt(root: object, path: string): unknown {
  return path.split('.').reduce<unknown>((at, step) => {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, step)) return undefined;
    return (at as Record<string, unknown>)[step];
  }, root);
}

function compares(found: unknown, op: ConditionLeaf['op'], value: ConditionLeaf['value']): boolean {
  switch (op) {
    case 'eq':
      return found === value;
    case 'ne':
      return typeof found !== 'object' && found !== value;
    case 'in':
      return Array.isArray(value) && value.some((member) => member === found);
    case 'prefix':
      return typeof found === 'string' && found.startsWith(String(value));
    case 'contains':
      return Array.isArray(found)
        ? found.includes(value)
        : typeof found === 'string' && containsText(found, String(value));
    default:
      return typeof found === typeof value && inOrder(op, found as string | number, value as string | number);
  }
}

/** Numbers by size; texts by code unit, which orders ISO 8601 times of one form. */
function inOrder(op: ConditionLeaf['op'], found: string | number, value: string | number): boolean {
  switch (op) {
    case 'gt':
      return found > value;
    case 'gte':
      return found >= value;
    case 'lt':
      return found < value;
    default:
      return found <= value;
  }
}

function expectedValue(op: ConditionLeaf['op']): string {
  if (op === 'in') return 'a list';
  if (op === 'exists') return 'true or false';
  if (op === 'prefix') return 'a text';
  if (op === 'gt' || op === 'gte' || op === 'lt' || op === 'lte') return 'a number or a text';
  return 'a value';
}

function fits(value: unknown, expected: string): boolean {
  switch (expected) {
    case 'a list':
      return Array.isArray(value);
    case 'true or false':
      return typeof value === 'boolean';
    case 'a text':
      return typeof value === 'string';
    case 'a number or a text':
      return typeof value === 'number' || typeof value === 'string';
    default:
      return !Array.isArray(value);
  }
}

function membersOf(whole: Condition): readonly Condition[] {
  if ('all' in whole) return whole.all;
  return 'any' in whole ? whole.any : [];
}

function leavesOf(whole: Condition): number {
  return 'op' in whole ? 1 : membersOf(whole).reduce((sum, member) => sum + leavesOf(member), 0);
}

function depthOf(whole: Condition): number {
  return 'op' in whole ? 0 : 1 + Math.max(...membersOf(whole).map(depthOf));
}
