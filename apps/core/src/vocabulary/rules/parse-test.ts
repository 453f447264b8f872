import { isLongerThan } from '@customer-platform/http';
import { LONGEST_MS, parseDuration, SHORTEST_MS } from './duration.js';
import { COUNT_OPS, OPS, type CountOp, type EventNode, type Op, type Scalar, type Test } from './rule.js';

const MOST_VALUES = 100;

/** Characters of a text that is compared with, and of one that is looked for within another. */
const LONGEST_TEXT = 1_000;
const LONGEST_PART = 200;

/** Says what is wrong, and where. */
type Refuse = (pointer: string, detail: string) => void;

/** Reads `op` and `value` of a leaf or of a condition in `where`; undefined after saying what is wrong. */
export function readTest(
  given: Readonly<Record<string, unknown>>,
  pointer: string,
  refuse: Refuse,
): Test | undefined {
  const { op, value } = given;
  if (!OPS.includes(op as Op)) {
    refuse(`${pointer}/op`, `It must be one of ${OPS.join(', ')}.`);
    return undefined;
  }
  const test = testOf(op as Op, value);
  if (typeof test === 'object') return test;
  refuse(`${pointer}/value`, test);
  return undefined;
}

/** What is too long about the value of a test, undefined if nothing is. */
export function tooLongOf(test: Test): string | undefined {
  const most = test.op === 'contains' || test.op === 'prefix' ? LONGEST_PART : LONGEST_TEXT;
  const texts = test.op === 'in' ? test.values : 'value' in test ? [test.value] : [];
  const long = texts.some((text) => typeof text === 'string' && isLongerThan(text, most));
  return long ? `It may have at most ${most} characters.` : undefined;
}

/** Reads `count`; at least one event where it is absent. */
export function readCount(value: unknown, pointer: string, refuse: Refuse): EventNode['count'] {
  if (value === undefined) return { op: 'gte', value: 1 };
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    refuse(pointer, 'It must be an object with `op` and `value`.');
    return { op: 'gte', value: 1 };
  }
  const { op, value: number, ...rest } = value as Record<string, unknown>;
  for (const name of Object.keys(rest)) refuse(pointer, `It has no member ${JSON.stringify(name)}.`);
  if (!COUNT_OPS.includes(op as CountOp))
    refuse(`${pointer}/op`, `It must be one of ${COUNT_OPS.join(', ')}.`);
  if (!Number.isSafeInteger(number) || (number as number) < 0)
    refuse(`${pointer}/value`, 'It must be a whole number from 0.');
  return { op: op as CountOp, value: number as number };
}

/** The test, or what is wrong with the value. */
function testOf(op: Op, value: unknown): Test | string {
  switch (op) {
    case 'eq':
    case 'ne':
    case 'contains':
      return isScalar(value) ? { op, value } : 'It must be a string, a number or a boolean.';
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
      return typeof value === 'number' || typeof value === 'string'
        ? { op, value }
        : 'It must be a number or a string.';
    case 'in':
      return Array.isArray(value) &&
        value.length > 0 &&
        value.length <= MOST_VALUES &&
        value.every((item) => isScalar(item))
        ? { op, values: value }
        : `It must be a list of 1 to ${MOST_VALUES} strings, numbers or booleans.`;
    case 'prefix':
      return typeof value === 'string' && value !== ''
        ? { op, value }
        : 'It must be a string, not an empty one.';
    case 'exists':
      return typeof value === 'boolean' ? { op, value } : 'It must be true or false.';
    case 'within_last':
      return durationTest(value);
  }
}

function durationTest(value: unknown): Test | string {
  const ms = typeof value === 'string' ? parseDuration(value) : undefined;
  return ms !== undefined && ms >= SHORTEST_MS && ms <= LONGEST_MS
    ? { op: 'within_last', ms }
    : 'It must be an ISO 8601 duration from one minute to 3,650 days, such as P30D.';
}

function isScalar(value: unknown): value is Scalar {
  return ['string', 'number', 'boolean'].includes(typeof value);
}
