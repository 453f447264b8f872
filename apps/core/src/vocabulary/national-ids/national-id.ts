import {
  ciCheckDigit,
  cnpjCheckDigits,
  cpfCheckDigits,
  cuitCheckDigit,
  curpCheckDigit,
  nitCheckDigit,
  rucCheckDigit,
  rutCheckDigit,
} from './check-digits.js';
import { NATIONAL_ID_CATALOG, type NationalIdType } from './national-id-types.js';

/** The value as it is stored and compared, or why it cannot be taken. The problem never carries the value. */
type NormalizedNationalId =
  { readonly value: string } | { readonly problem: 'invalid_national_id' | 'placeholder_identifier' };

/** Where the check digits of a kind are, how they follow from the body, and whether a dash stands before them. */
interface Checked {
  readonly digits: number;
  readonly dash?: boolean;
  readonly of: (body: string) => string | undefined;
}

const CHECKS: Partial<Record<NationalIdType, Checked>> = {
  CL_RUT: { digits: 1, dash: true, of: rutCheckDigit },
  AR_CUIT: { digits: 1, of: cuitCheckDigit },
  BR_CPF: { digits: 2, of: cpfCheckDigits },
  BR_CNPJ: { digits: 2, of: cnpjCheckDigits },
  CO_NIT: { digits: 1, dash: true, of: nitCheckDigit },
  MX_CURP: { digits: 1, of: curpCheckDigit },
  PE_RUC: { digits: 1, of: rucCheckDigit },
  UY_CI: { digits: 1, dash: true, of: ciCheckDigit },
};

/** Kinds whose numbers may be written with zeros before them. */
const UNPADDED: ReadonlySet<NationalIdType> = new Set(['CL_RUT', 'AR_DNI', 'CO_CC', 'CO_NIT', 'UY_CI']);

/** What people write between digits: white space, dots, slashes, and dashes of every kind. */
const SEPARATORS = /[\s.,/_\p{Dash_Punctuation}\u2212]/gu;

/** A RUT has dots, spaces and dashes in it and nothing else (core.md §2): another sign is part of another number. */
const RUT_SEPARATORS = /[\s.\p{Dash_Punctuation}\u2212]/gu;

/** Longer than any id with all its separators: no more is looked at. */
const LONGEST = 64;

const PATTERNS = new Map(
  Object.entries(NATIONAL_ID_CATALOG).map(([type, { pattern }]) => [type, new RegExp(pattern, 'u')]),
);

/**
 * Reads a national id as people write it. A body of zeros only stands for none, as does one of a single digit where no
 * such number is issued: of a RUT from 33333333 up, of a CPF and a CNPJ any.
 */
export function normalizeNationalId(type: NationalIdType, written: string): NormalizedNationalId {
  if (written.length > LONGEST) return { problem: 'invalid_national_id' };
  const separators = type === 'CL_RUT' ? RUT_SEPARATORS : SEPARATORS;
  const bare = written.normalize('NFKC').toUpperCase().replace(separators, '');
  const check = CHECKS[type];
  const end = check ? Math.max(bare.length - check.digits, 0) : bare.length;
  const body = UNPADDED.has(type) ? bare.slice(0, end).replace(/^0+(?=.)/, '') : bare.slice(0, end);
  const digits = bare.slice(end);
  if (isPlaceholder(type, body)) return { problem: 'placeholder_identifier' };
  const value = `${body}${check?.dash ? '-' : ''}${digits}`;
  if (!PATTERNS.get(type)?.test(value) || (check && check.of(body) !== digits)) {
    return { problem: 'invalid_national_id' };
  }
  return { value };
}

/**
 * The stored value as it may be shown: the last four characters before the check digits, or half of them where that
 * is less, and the check digits. A kind without check digits shows its last characters.
 */
export function maskNationalId(type: NationalIdType, value: string): string {
  const check = CHECKS[type];
  const tail = check ? value.slice(-check.digits - (check.dash ? 1 : 0)) : '';
  const body = value.slice(0, value.length - tail.length);
  const shown = Math.min(4, Math.floor(body.length / 2));
  return `***${body.slice(body.length - shown)}${tail}`;
}

function isPlaceholder(type: NationalIdType, body: string): boolean {
  if (/^0+$/.test(body)) return true;
  const repeated = /^([0-9])\1+$/.test(body);
  if (type === 'CL_RUT') return repeated && body.length === 8 && Number(body) >= 33_333_333;
  return repeated && (type === 'BR_CPF' || type === 'BR_CNPJ');
}
