import { canonicalTimeZone } from '@customer-platform/http';
import { type FieldCode, FieldErrors, Problem } from '@customer-platform/problem-json';
import {
  CONDITION_OPS,
  type Condition,
  type ContactCap,
  type Formula,
  PERIODS,
  ROUNDINGS,
  type RuleContent,
} from './rule.js';

const MOST_CONDITIONS = 20;
const MOST_IN_VALUES = 100;
const DEEPEST_PATH = 5;
const MOST_POINTS = 1_000_000_000;
const MOST_POINTS_PER_AMOUNT = 1_000_000;

/** The parts of a rule that a DTO class cannot describe, as the caller or the merge with the stored rule gives them. */
interface RuleParts {
  conditions: unknown;
  formula: unknown;
  maxPerContact: unknown;
  validFrom: Date;
  validTo: Date | null;
}

/**
 * Reads the parts with their defaults filled in (loyalty.md §1).
 * @throws Problem `validation_failed` with a pointer for everything that is wrong
 */
export function readRuleParts(
  parts: RuleParts,
  organizationTimezone: string,
): Pick<RuleContent, 'conditions' | 'formula' | 'maxPerContact'> {
  const check = new Check();
  const conditions = readConditions(check, parts.conditions);
  const formula = readFormula(check, parts.formula);
  const maxPerContact =
    parts.maxPerContact === null ? null : readCap(check, parts.maxPerContact, organizationTimezone);
  if (parts.validTo !== null && parts.validTo <= parts.validFrom) {
    check.fail('/valid_to', 'out_of_range', '`valid_to` must be later than `valid_from`.');
  }
  check.done();
  return { conditions, formula, maxPerContact };
}

/** Gathers what is wrong, so that the caller learns all of it at once. */
class Check {
  private readonly errors = new FieldErrors();

  fail(pointer: string, code: FieldCode, detail: string): void {
    this.errors.add({ pointer, code, detail });
  }

  done(): void {
    if (this.errors.total > 0) throw Problem.validation(this.errors);
  }

  /** The value as an object without unknown members, or undefined after saying what is wrong. */
  object(value: unknown, pointer: string, allowed: readonly string[]): Record<string, unknown> | undefined {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      this.fail(pointer, 'wrong_type', 'It must be an object.');
      return undefined;
    }
    for (const name of Object.keys(value)) {
      if (!allowed.includes(name)) {
        this.fail(`${pointer}/${name}`, 'unknown_field', `Unknown; allowed are ${allowed.join(', ')}.`);
      }
    }
    return value as Record<string, unknown>;
  }

  integer(value: unknown, pointer: string, most: number): number {
    if (value === undefined) this.fail(pointer, 'required', 'It is required.');
    else if (typeof value !== 'number' || !Number.isInteger(value))
      this.fail(pointer, 'wrong_type', 'It must be an integer.');
    else if (value < 1 || value > most) this.fail(pointer, 'out_of_range', `It must be from 1 to ${most}.`);
    return value as number;
  }

  oneOf<T extends string>(value: unknown, pointer: string, values: readonly T[]): T {
    if (value === undefined) this.fail(pointer, 'required', 'It is required.');
    else if (!values.includes(value as T))
      this.fail(pointer, 'invalid_enum', `It must be one of ${values.join(', ')}.`);
    return value as T;
  }

  path(value: unknown, pointer: string): string {
    if (typeof value !== 'string') {
      this.fail(
        pointer,
        value === undefined ? 'required' : 'wrong_type',
        'It must be a dotted path in `properties`.',
      );
    } else {
      const parts = value.split('.');
      if (value.length > 200 || parts.length > DEEPEST_PATH || parts.some((part) => part === '')) {
        this.fail(pointer, 'invalid_format', `It must be a dotted path of at most ${DEEPEST_PATH} names.`);
      }
    }
    return value as string;
  }
}

function readConditions(check: Check, value: unknown): Condition[] {
  if (!Array.isArray(value)) {
    check.fail('/conditions', 'wrong_type', 'It must be a list.');
    return [];
  }
  if (value.length > MOST_CONDITIONS) {
    check.fail('/conditions', 'too_long', `At most ${MOST_CONDITIONS} conditions.`);
    return [];
  }
  return value.map((item: unknown, index) => readCondition(check, item, `/conditions/${index}`));
}

function readCondition(check: Check, value: unknown, pointer: string): Condition {
  const given = check.object(value, pointer, ['property', 'op', 'value']) ?? {};
  const condition: Condition = {
    property: check.path(given['property'], `${pointer}/property`),
    op: check.oneOf(given['op'], `${pointer}/op`, CONDITION_OPS),
    value: given['op'] === 'exists' && given['value'] === undefined ? true : given['value'],
  };
  const problem = valueProblem(condition);
  if (problem !== undefined)
    check.fail(`${pointer}/value`, condition.value === undefined ? 'required' : 'wrong_type', problem);
  return condition;
}

/** What is wrong with a condition's value for its operator, or undefined. */
function valueProblem({ op, value }: Condition): string | undefined {
  const scalar = (one: unknown): boolean => ['string', 'number', 'boolean'].includes(typeof one);
  switch (op) {
    case 'eq':
    case 'ne':
      return scalar(value) ? undefined : 'It must be a string, a number or a boolean.';
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
      return typeof value === 'number' || typeof value === 'string'
        ? undefined
        : 'It must be a number or a string.';
    case 'in':
      return Array.isArray(value) &&
        value.length >= 1 &&
        value.length <= MOST_IN_VALUES &&
        value.every(scalar)
        ? undefined
        : `It must be a list of 1 to ${MOST_IN_VALUES} strings, numbers or booleans.`;
    case 'prefix':
      return typeof value === 'string' ? undefined : 'It must be a string.';
    case 'exists':
      return typeof value === 'boolean' ? undefined : 'It must be true or false.';
    default:
      return undefined;
  }
}

function readFormula(check: Check, value: unknown): Formula {
  const pointer = '/formula';
  const type = (value as { type?: unknown } | null)?.type;
  if (type === 'fixed') {
    const given = check.object(value, pointer, ['type', 'points']) ?? {};
    return { type, points: check.integer(given['points'], `${pointer}/points`, MOST_POINTS) };
  }
  if (type !== 'per_amount') {
    check.oneOf(type, `${pointer}/type`, ['fixed', 'per_amount']);
    return { type: 'fixed', points: 0 };
  }
  const members = ['type', 'amount_property', 'currency_property', 'currency', 'per', 'points', 'rounding'];
  const given = check.object(value, pointer, members) ?? {};
  if (typeof given['currency'] !== 'string' || !/^[A-Z]{3}$/.test(given['currency'])) {
    check.fail(
      `${pointer}/currency`,
      given['currency'] === undefined ? 'required' : 'invalid_format',
      'It must be an ISO 4217 code, such as CLP.',
    );
  }
  return {
    type,
    amount_property: check.path(given['amount_property'] ?? 'amount', `${pointer}/amount_property`),
    currency_property: check.path(given['currency_property'] ?? 'currency', `${pointer}/currency_property`),
    currency: given['currency'] as string,
    per: check.integer(given['per'], `${pointer}/per`, Number.MAX_SAFE_INTEGER),
    points: check.integer(given['points'], `${pointer}/points`, MOST_POINTS_PER_AMOUNT),
    rounding: check.oneOf(given['rounding'] ?? 'floor', `${pointer}/rounding`, ROUNDINGS),
  };
}

function readCap(check: Check, value: unknown, organizationTimezone: string): ContactCap {
  const pointer = '/max_per_contact';
  const given = check.object(value, pointer, ['points', 'period', 'timezone']) ?? {};
  const named = given['timezone'] ?? organizationTimezone;
  const timezone = typeof named === 'string' ? canonicalTimeZone(named) : undefined;
  if (timezone === undefined) {
    check.fail(
      `${pointer}/timezone`,
      'invalid_format',
      'It must be an IANA time zone, such as America/Santiago.',
    );
  }
  return {
    points: check.integer(given['points'], `${pointer}/points`, MOST_POINTS),
    period: check.oneOf(given['period'], `${pointer}/period`, PERIODS),
    timezone: timezone ?? 'UTC',
  };
}
