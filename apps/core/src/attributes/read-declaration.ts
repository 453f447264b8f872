import { isLongerThan } from '@customer-platform/http';
import { FieldErrors, Problem } from '@customer-platform/problem-json';
import {
  checkDeclared,
  MOST_EXACT,
  type Declaration,
  type DeclaredType,
} from '../vocabulary/attributes/declaration.js';
import type { DeclarationFieldsDto } from './attribute-definition.dto.js';

type Bound = 'enum' | 'max_length' | 'min' | 'max';

/** What each type takes beside it. */
const BOUNDS: Readonly<Record<DeclaredType, readonly Bound[]>> = {
  string: ['enum', 'max_length'],
  integer: ['enum', 'min', 'max'],
  number: ['enum', 'min', 'max'],
  boolean: [],
  date: [],
  datetime: [],
  string_list: ['enum', 'max_length'],
};
/** Characters of an allowed text. */
const LONGEST_ALLOWED = 200;
/** Of all allowed values, as the table demands it: an organization's definitions stand in memory. */
const MOST_BYTES = 16_384;
/** A double with all its digits. */
const LONGEST_NUMBER = 350;
const ALL_BOUNDS: readonly Bound[] = ['enum', 'max_length', 'min', 'max'];

/**
 * The declaration that a body gives, of a PATCH on top of the present one: what is absent stays, but for bounds that
 * another type does not take.
 * @throws Problem `validation_failed` with what does not go together
 */
export function readDeclaration(body: Partial<DeclarationFieldsDto>, present?: Declaration): Declaration {
  const errors = new FieldErrors();
  const type = body.type ?? present?.type;
  if (type === undefined) throw new TypeError('A new definition has a type');
  const taken = BOUNDS[type];
  for (const bound of ALL_BOUNDS) {
    if (taken.includes(bound) || (body[bound] ?? null) === null) continue;
    const detail = `An attribute of the type ${type} takes no \`${bound}\`.`;
    errors.add({ pointer: `/${bound}`, code: 'not_allowed', detail });
  }
  const bound = <B extends Bound>(name: B): Declaration[B] | null => {
    if (!taken.includes(name)) return null;
    const given = body[name] as Declaration[B] | undefined;
    return given === undefined ? (present?.[name] ?? null) : given;
  };
  const declaration: Declaration = {
    type,
    enum: bound('enum'),
    max_length: bound('max_length'),
    min: bound('min'),
    max: bound('max'),
  };
  if (errors.total === 0) checkTogether(declaration, errors);
  if (errors.total > 0) throw Problem.validation(errors);
  return declaration;
}

function checkTogether(declaration: Declaration, errors: FieldErrors): void {
  const { type, min, max } = declaration;
  for (const name of ['min', 'max'] as const) {
    const value = declaration[name];
    if (value === null) continue;
    if (Math.abs(value) > MOST_EXACT)
      errors.add({ pointer: `/${name}`, code: 'out_of_range', detail: 'It must be within ±(2^53 − 1).' });
    else if (type === 'integer' && !Number.isInteger(value))
      errors.add({ pointer: `/${name}`, code: 'wrong_type', detail: 'It must be an integer.' });
  }
  if (min !== null && max !== null && min > max)
    errors.add({ pointer: '/max', code: 'out_of_range', detail: 'It must not be less than `min`.' });
  if (errors.total > 0) return;
  checkEnum(declaration, errors);
}

function checkEnum(declaration: Declaration, errors: FieldErrors): void {
  const { type, enum: known } = declaration;
  if (known === null) return;
  const item: Declaration = {
    ...declaration,
    type: type === 'string_list' ? 'string' : type,
    enum: null,
  };
  for (const [index, value] of known.entries()) {
    if (typeof value === 'string' && isLongerThan(value, LONGEST_ALLOWED)) {
      const detail = `It may have at most ${String(LONGEST_ALLOWED)} characters.`;
      errors.add({ pointer: `/enum/${String(index)}`, code: 'too_long', detail });
      continue;
    }
    const checked = checkDeclared(item, value);
    if ('value' in checked) continue;
    const code = checked.code === 'attribute_type_mismatch' ? 'wrong_type' : checked.code;
    errors.add({ pointer: `/enum/${String(index)}`, code, detail: checked.detail });
  }
  if (errors.total === 0 && storedBytes(known) > MOST_BYTES)
    errors.add({
      pointer: '/enum',
      code: 'too_long',
      detail: 'All values together may have at most 16 KiB as JSON.',
    });
}

/** At least what the database counts: it puts a space after each comma, and writes out what stands in powers of ten. */
function storedBytes(known: readonly (string | number)[]): number {
  const bytes = (value: string | number): number =>
    typeof value === 'number' && String(value).includes('e')
      ? LONGEST_NUMBER
      : Buffer.byteLength(JSON.stringify(value));
  return known.reduce<number>((total, value) => total + bytes(value) + 2, 2);
}
