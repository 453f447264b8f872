import { readFileSync } from 'node:fs';

/** The kinds of national id that a contact can carry, as the API names them. */
export const NATIONAL_ID_TYPES = [
  'CL_RUT',
  'AR_DNI',
  'AR_CUIT',
  'BR_CPF',
  'BR_CNPJ',
  'CO_CC',
  'CO_NIT',
  'MX_CURP',
  'MX_RFC',
  'PE_DNI',
  'PE_RUC',
  'UY_CI',
  'PASSPORT',
] as const;

/** A kind of national id. */
export type NationalIdType = (typeof NATIONAL_ID_TYPES)[number];

/** What the catalog says of a kind (core.md §1). `pattern` is of the value as it is stored. */
interface NationalIdTypeEntry {
  readonly name: { readonly es: string; readonly en: string };
  /** Of issue; null where any country issues it. */
  readonly country: string | null;
  readonly subject: 'person' | 'company' | 'any';
  readonly check: 'checksum' | 'format';
  readonly pattern: string;
  readonly valid_from: string | null;
  readonly valid_to: string | null;
}

/** The catalog of kinds, by code. */
export const NATIONAL_ID_CATALOG = JSON.parse(
  readFileSync(new URL('./national-id-types.json', import.meta.url), 'utf8'),
) as Readonly<Record<NationalIdType, NationalIdTypeEntry>>;

/** Whether the catalog has this kind. */
export function isNationalIdType(code: string): code is NationalIdType {
  return (NATIONAL_ID_TYPES as readonly string[]).includes(code);
}
