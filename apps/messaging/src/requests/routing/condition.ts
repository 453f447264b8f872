import { z } from 'zod';
import { compareValues, FORBIDDEN_KEYS, valueAt, type PathRules } from '@customer-platform/http';
import { refuse } from '../../vocabulary/shapes/refuse.js';

/** What a condition and a template look into. */
interface ConditionScope {
  /** The domain event's `data`. */
  readonly event: Readonly<Record<string, unknown>>;
  readonly contact: Readonly<Record<string, unknown>>;
}

type Scalar = string | number | boolean;

/** One comparison. */
interface ConditionLeaf {
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

const scalar = z.union([z.string().max(1_000), z.number(), z.boolean()]);

const leaf = z
  .strictObject({
    path: z
      .string()
      .max(400)
      .refine(
        (path) => PATH.test(path) && !path.split('.').some((step) => FORBIDDEN_KEYS.has(step)),
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

/** Where a path of a condition leads. */
export const PATHS: PathRules = { dottedKeys: false, intoLists: true };

/** Whether the scope meets the condition. A path that leads nowhere meets nothing, `ne` included. */
export function meets(whole: Condition, scope: ConditionScope): boolean {
  if ('all' in whole) return whole.all.every((member) => meets(member, scope));
  if ('any' in whole) return whole.any.some((member) => meets(member, scope));
  const found = valueAt(scope, whole.path, PATHS);
  // A text contains a number as it is written.
  const asText = whole.op === 'contains' && typeof found === 'string';
  return compareValues(found, whole.op, asText ? String(whole.value) : whole.value, 'unless_nested');
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
