import fc from 'fast-check';
import { rutCheckDigit } from './check-digits.js';
import { maskNationalId, normalizeNationalId } from './national-id.js';
import {
  isNationalIdType,
  NATIONAL_ID_CATALOG,
  NATIONAL_ID_TYPES,
  type NationalIdType,
} from './national-id-types.js';

const INVALID = { problem: 'invalid_national_id' };
const PLACEHOLDER = { problem: 'placeholder_identifier' };

describe('normalizeNationalId', () => {
  it.each([
    '12345678-5',
    '12.345.678-5',
    '12 345 678 – 5',
    '12.345.678—5',
    '12345678−5',
    '123456785',
    '012.345.678-5',
    '0012345678-5',
    ' 12.345.678-5\n',
    '１２３４５６７８－５',
  ])('reads the RUT %j', (written) => {
    expect(normalizeNationalId('CL_RUT', written)).toEqual({ value: '12345678-5' });
  });

  it('takes k in either case, and bodies of one to eight digits', () => {
    expect(normalizeNationalId('CL_RUT', '10.000.013-k')).toEqual({ value: '10000013-K' });
    expect(normalizeNationalId('CL_RUT', '10000013K')).toEqual({ value: '10000013-K' });
    expect(normalizeNationalId('CL_RUT', '1-9')).toEqual({ value: '1-9' });
  });

  it.each([
    '12345678-4',
    '12345678-K',
    '123456789-2',
    '12345678',
    '',
    '-',
    '5',
    'abc',
    '1234567a-5',
    '12,345,678-5',
    '12345678/5',
    '12_345_678-5',
    '12.345.678_5',
    "12'345'678-5",
    '12345678+5',
    '9'.repeat(500),
  ])('refuses the RUT %j', (written) => expect(normalizeNationalId('CL_RUT', written)).toEqual(INVALID));

  it.each(['0-0', '00000000-0', '33.333.333-3', '44444444-4', '99999999-9', '99999999-1'])(
    'takes the RUT %j for a placeholder',
    (written) => expect(normalizeNationalId('CL_RUT', written)).toEqual(PLACEHOLDER),
  );

  it('takes repeated digits below 33333333, which are people', () => {
    expect(normalizeNationalId('CL_RUT', '11.111.111-1')).toEqual({ value: '11111111-1' });
    expect(normalizeNationalId('CL_RUT', '22222222-2')).toEqual({ value: '22222222-2' });
    expect(normalizeNationalId('CL_RUT', '7777777-' + rutCheckDigit('7777777'))).toHaveProperty('value');
  });

  it.each<[NationalIdType, string, string]>([
    ['AR_DNI', '30.123.456', '30123456'],
    ['AR_CUIT', '20-12345678-6', '20123456786'],
    ['AR_CUIT', '30-50001091-2', '30500010912'],
    ['BR_CPF', '529.982.247-25', '52998224725'],
    ['BR_CNPJ', '11.222.333/0001-81', '11222333000181'],
    ['BR_CNPJ', '12.abc.345/01de-35', '12ABC34501DE35'],
    ['CO_CC', '1.020.304.050', '1020304050'],
    ['CO_NIT', '860.002.964-4', '860002964-4'],
    ['CO_NIT', '800197268-4', '800197268-4'],
    ['MX_CURP', 'hegg560427mvzrrl04', 'HEGG560427MVZRRL04'],
    ['MX_RFC', 'GODE-561231-GR8', 'GODE561231GR8'],
    ['MX_RFC', 'ñ&a010203ab1', 'Ñ&A010203AB1'],
    ['PE_DNI', '01234567', '01234567'],
    ['PE_RUC', '20100070970', '20100070970'],
    ['UY_CI', '1.234.567-2', '1234567-2'],
    ['PASSPORT', 'p 1234567', 'P1234567'],
  ])('reads %s %j as %j', (type, written, value) => {
    expect(normalizeNationalId(type, written)).toEqual({ value });
  });

  it.each<[NationalIdType, string]>([
    ['AR_DNI', '123456'],
    ['AR_CUIT', '20-12345678-5'],
    ['AR_CUIT', '99-12345678-6'],
    ['BR_CPF', '529.982.247-26'],
    ['BR_CNPJ', '11.222.333/0001-82'],
    ['BR_CNPJ', '12.ABC.345/01DE-36'],
    ['CO_CC', '12'],
    ['CO_NIT', '860.002.964-5'],
    ['MX_CURP', 'HEGG560427MVZRRL05'],
    ['MX_RFC', 'GODE561231'],
    ['PE_DNI', '1234567'],
    ['PE_RUC', '20100070971'],
    ['PE_RUC', '99100070970'],
    ['UY_CI', '1.234.567-3'],
    ['PASSPORT', 'P-1'],
  ])('refuses %s %j', (type, written) => {
    expect(normalizeNationalId(type, written)).toEqual(INVALID);
  });

  it.each<[NationalIdType, string]>([
    ['BR_CPF', '111.111.111-11'],
    ['BR_CNPJ', '00.000.000/0000-00'],
    ['PE_DNI', '00000000'],
    ['CO_CC', '0000'],
    ['PASSPORT', '0000000'],
  ])('takes %s %j for a placeholder', (type, written) => {
    expect(normalizeNationalId(type, written)).toEqual(PLACEHOLDER);
  });

  it('reads what it stored as the same, and finds every wrong check digit of a RUT', () => {
    const body = fc.integer({ min: 1, max: 33_333_332 }).map(String);
    fc.assert(
      fc.property(body, fc.constantFrom(...'0123456789K'), (number, digit) => {
        const taken = normalizeNationalId('CL_RUT', `${number}${digit}`);
        const right = rutCheckDigit(number) === digit;
        expect(taken).toEqual(right ? { value: `${number}-${digit}` } : INVALID);
        if ('value' in taken) expect(normalizeNationalId('CL_RUT', taken.value)).toEqual(taken);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('maskNationalId', () => {
  it.each<[NationalIdType, string, string]>([
    ['CL_RUT', '12345678-5', '***5678-5'],
    ['CL_RUT', '1941-0', '***41-0'],
    ['CL_RUT', '1-9', '***-9'],
    ['BR_CPF', '52998224725', '***224725'],
    ['AR_DNI', '30123456', '***3456'],
    ['PASSPORT', 'P1234', '***34'],
  ])('shows %s %j as %j', (type, value, masked) => expect(maskNationalId(type, value)).toBe(masked));
});

describe('the catalog of kinds', () => {
  it('has exactly the kinds that the code knows, each with a name in both languages and a pattern', () => {
    expect(Object.keys(NATIONAL_ID_CATALOG)).toEqual([...NATIONAL_ID_TYPES]);
    for (const entry of Object.values(NATIONAL_ID_CATALOG)) {
      expect(entry).toEqual({
        name: { es: expect.stringMatching(/\w/) as string, en: expect.stringMatching(/\w/) as string },
        country: entry.country === null ? null : expect.stringMatching(/^[A-Z]{2}$/),
        subject: expect.stringMatching(/^(person|company|any)$/) as string,
        check: expect.stringMatching(/^(checksum|format)$/) as string,
        pattern: expect.stringMatching(/^\^.+\$$/) as string,
        valid_from: null,
        valid_to: null,
      });
    }
  });

  it('knows its own codes only', () => {
    expect(isNationalIdType('CL_RUT')).toBe(true);
    expect(isNationalIdType('toString')).toBe(false);
  });
});
