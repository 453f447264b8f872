import fc from 'fast-check';
import { normalEmail, normalIdentity, normalPhone } from './identity-value.js';

describe('normalEmail', () => {
  it.each([
    ['Ana@Example.COM', 'ana@example.com'],
    ['ana.maria+tag@mail.example.cl', 'ana.maria+tag@mail.example.cl'],
    ['ana@Ñandú.cl', 'ana@xn--and-6ma2c.cl'],
    ['josé@example.cl', 'josé@example.cl'],
  ])('reads %s as %s', (value, normal) => {
    expect(normalEmail(value)).toBe(normal);
  });

  it.each([
    '',
    'ana',
    '@example.cl',
    'ana@',
    'ana@localhost',
    'a b@example.cl',
    'ana@exa mple.cl',
    'ana@@example.cl',
  ])('refuses %p', (value) => {
    expect(normalEmail(value)).toBeUndefined();
  });

  it.each([
    '.ana@example.cl',
    'an..a@example.cl',
    '"ana"@example.cl',
    'Ana <ana@example.cl>',
    `${'x'.repeat(65)}@a.cl`,
  ])('refuses %p', (value) => {
    expect(normalEmail(value)).toBeUndefined();
  });

  it('is the same when it is applied again', () => {
    fc.assert(
      fc.property(fc.emailAddress(), (value) => {
        const normal = normalEmail(value);
        if (normal !== undefined) expect(normalEmail(normal)).toBe(normal);
      }),
    );
  });

  it('never throws', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (value) => void normalEmail(value)));
  });
});

describe('normalPhone', () => {
  it.each([
    ['+56 9 1234 5678', null, '+56912345678'],
    ['+56 (9) 1234-5678', 'AR', '+56912345678'],
    ['9 1234 5678', 'CL', '+56912345678'],
    ['11 2345-6789', 'AR', '+541123456789'],
  ])('reads %s in %s as %s', (value, country, normal) => {
    expect(normalPhone(value, country)).toBe(normal);
  });

  it.each([
    ['9 1234 5678', null],
    ['12', 'CL'],
    ['call me +56912345678', null],
    ['', 'CL'],
    ['+999999999999999999', null],
  ])('refuses %p in %s', (value, country) => {
    expect(normalPhone(value, country)).toBeUndefined();
  });

  it('never throws', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.constantFrom('CL', 'XX', null), (value, country) => {
        void normalPhone(value, country);
      }),
    );
  });
});

describe('normalIdentity', () => {
  it('keeps the identifiers of other systems byte by byte', () => {
    expect(normalIdentity('external_id', ' Ana ', null)).toBe(' Ana ');
    expect(normalIdentity('custom.push_token', 'AbC', null)).toBe('AbC');
  });
});
