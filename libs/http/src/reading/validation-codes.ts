import type { FieldCode } from '@customer-platform/problem-json';

/** What a failed constraint of class-validator means in the contract's words, the most telling first. */
const CODES: readonly (readonly [code: FieldCode, constraints: readonly string[]])[] = [
  ['required', ['isDefined']],
  ['unknown_field', ['whitelistValidation']],
  [
    'wrong_type',
    [
      'isString',
      'isInt',
      'isNumber',
      'isBoolean',
      'isArray',
      'isObject',
      'isNotEmptyObject',
      'nestedValidation',
      'isDate',
      'isInstance',
    ],
  ],
  ['too_long', ['maxLength', 'arrayMaxSize', 'isByteLength']],
  ['too_short', ['minLength', 'isNotEmpty', 'arrayMinSize', 'arrayNotEmpty', 'isLength']],
  ['out_of_range', ['min', 'max', 'isPositive', 'isNegative', 'minDate', 'maxDate', 'isDivisibleBy']],
  ['invalid_enum', ['isIn', 'isEnum', 'equals']],
  ['duplicate_item', ['arrayUnique', 'isWithoutRepeats']],
];

const order = new Map<string, { rank: number; code: FieldCode }>();
for (const [rank, [code, constraints]] of CODES.entries()) {
  for (const name of constraints) order.set(name, { rank, code });
}

/** The code of a constraint, and how telling it is beside others of the same field (lower is more). */
export function codeOfConstraint(name: string): { rank: number; code: FieldCode } {
  return order.get(name) ?? { rank: CODES.length, code: 'invalid_format' };
}
