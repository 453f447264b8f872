import { generateKeyPairSync, randomInt, randomUUID } from 'node:crypto';
import type { Schema } from './edges.fixture.js';
import { checkDigit } from './erasable-person.fixture.js';

/** A body. */
export type Body = Record<string, unknown>;
/** Bodies of a route: one, or several of which each has what the others cannot. */
export type Bodies = Readonly<Record<string, () => Body | Body[]>>;

/** Types of attributes and of fields of records, with what else they are declared by. */
export const TYPES: Readonly<Record<string, Body>> = {
  ...{ string: {}, integer: {}, number: {}, boolean: {}, date: {}, datetime: {} },
  enum: { options: [{ value: 'a' }, { value: 'b' }] },
  reference: { target: 'contact' },
};
/** Fields of a record: one that is unique, one as examples have it, and one of each type. */
export const FIELDS = [
  { key: 'plate', type: 'string', unique: true },
  { key: 'year', type: 'integer' },
  ...Object.entries(TYPES).map(([type, more]) => ({ key: `a_${type}`, type, indexed: true, ...more })),
];
const LEAF = { attribute: 'attributes.a_string', op: 'eq', value: 'a' };
/** Rules of segments, which together have every field of one. */
export const RULES: readonly Body[] = [
  LEAF,
  {
    ...{ event: 'looked', where: [{ property: 'a', op: 'eq', value: 1 }] },
    ...{ count: { op: 'gte', value: 1 }, within: 'P30D' },
  },
  { consent: { purpose: 'marketing', channel: 'email' }, status: 'granted' },
  { all: [LEAF] },
  { any: [LEAF] },
  { not: LEAF },
];
/** Rules of points, likewise. */
export const RULES_OF_POINTS: readonly Body[] = [
  { formula: { type: 'fixed', points: 1 } },
  {
    formula: {
      ...{ type: 'per_amount', amount_property: 'amount', currency_property: 'currency' },
      ...{ currency: 'CLP', per: 1_000, points: 1, rounding: 'floor' },
    },
    max_per_contact: { points: 1, period: 'day', timezone: 'UTC' },
  },
];
/** Types of attributes, and of fields of activities. */
export const ATTRIBUTES = ['string', 'integer', 'number', 'boolean', 'date', 'datetime'];

/** What a value of each type is. */
export const SCHEMAS: Readonly<Record<string, Schema>> = {
  ...{
    string: { type: 'string', maxLength: 1_000 },
    integer: { type: 'integer' },
    number: { type: 'number' },
  },
  ...{ boolean: { type: 'boolean' }, date: { type: 'string', format: 'date' } },
  datetime: { type: 'string', format: 'date-time' },
  enum: { type: 'string', enum: ['a', 'b'] },
  reference: { type: 'string', format: 'uuid' },
};

/** What stands at a path in a body; of a list in its first item. */
export function valueIn(body: unknown, field: readonly string[]): unknown {
  return field.reduce<unknown>((outer, name) => {
    const of: unknown = Array.isArray(outer) ? outer[0] : outer;
    return typeof of === 'object' && of !== null ? (of as Body)[name] : undefined;
  }, body);
}

/** One that nobody has. */
export function aNationalId(): Body {
  const digits = String(randomInt(12_000_000, 25_000_000));
  return { type: 'CL_RUT', value: `${digits}-${checkDigit(digits)}` };
}

/** A public key by which members are vouched for. */
export function aKeySet(): Body {
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { keys: [{ ...publicKey.export({ format: 'jwk' }), kid: randomUUID(), alg: 'ES256', use: 'sig' }] };
}
