import { COUNTRY_CODES } from './country-codes.js';
import type { KnownTrait } from './contact-field-table.js';
import { readTrait, UNKNOWN } from './known-traits.js';

const CHILEAN = { ...UNKNOWN, country: 'CL' };

describe('readTrait', () => {
  it.each<[KnownTrait, unknown, string | null]>([
    ['email', ' Ana@Example.com ', 'Ana@Example.com'],
    ['phone', '9 1234 5678', '+56912345678'],
    ['first_name', '\u00a0María José \u200b', 'María José'],
    ['locale', 'es_cl', 'es-CL'],
    ['locale', 'zh-hant-tw', 'zh-Hant-TW'],
    ['timezone', 'America/Santiago', 'America/Santiago'],
    ['timezone', 'UTC', 'UTC'],
    ['country', 'cl', 'CL'],
    ['last_name', null, null],
  ])('takes %s %p as %p', (trait, sent, value) => {
    expect(readTrait(trait, sent, CHILEAN)).toEqual({ value });
  });

  it.each<[KnownTrait, unknown, string]>([
    ['email', 'nobody', 'invalid_format'],
    ['email', 7, 'wrong_type'],
    ['phone', '12', 'invalid_format'],
    ['first_name', 'x'.repeat(101), 'too_long'],
    ['first_name', '  ', 'too_short'],
    ['locale', 'not a locale', 'invalid_format'],
    ['timezone', '+03:00', 'invalid_enum'],
    ['timezone', 'America/Nowhere', 'invalid_enum'],
    ['country', 'XX', 'invalid_enum'],
    ['country', ['CL'], 'wrong_type'],
  ])('refuses %s %p as %s', (trait, sent, fault) => {
    expect(readTrait(trait, sent, CHILEAN)).toMatchObject({ fault });
  });

  it('neither looks at nor remembers a zone that is longer than any', () => {
    expect(readTrait('timezone', 'A'.repeat(65), UNKNOWN)).toEqual({ fault: 'invalid_enum' });
  });

  it('counts a name in characters, not in UTF-16 units', () => {
    expect(readTrait('first_name', '😀'.repeat(100), UNKNOWN)).toEqual({ value: '😀'.repeat(100) });
  });
});

describe('COUNTRY_CODES', () => {
  it('holds the 249 codes in force', () => {
    expect(COUNTRY_CODES.size).toBe(249);
    const names = new Intl.DisplayNames('en', { type: 'region' });
    for (const code of COUNTRY_CODES) expect(names.of(code)).not.toBe(code);
  });
});
