import fc from 'fast-check';
import { readEmail, readMailDomain } from './email-address.js';

describe('readEmail', () => {
  it.each([
    ['Marta.Paz@Example.COM', 'Marta.Paz@Example.COM', 'Marta.Paz@example.com', 'marta.paz@example.com'],
    [
      'marta+tag@mail.example.cl',
      'marta+tag@mail.example.cl',
      'marta+tag@mail.example.cl',
      'marta+tag@mail.example.cl',
    ],
    ['marta@Ñandú.cl', 'marta@Ñandú.cl', 'marta@xn--and-6ma2c.cl', 'marta@xn--and-6ma2c.cl'],
    ['marta@N\u0303andu\u0301.cl', 'marta@Ñandú.cl', 'marta@xn--and-6ma2c.cl', 'marta@xn--and-6ma2c.cl'],
    ['\u00a0marta@example.cl\u3000\t', 'marta@example.cl', 'marta@example.cl', 'marta@example.cl'],
    ['\u202amarta@example.cl\u202c', 'marta@example.cl', 'marta@example.cl', 'marta@example.cl'],
    ['mar\u00adta\u200b@exam\u2060ple.\ufeffcl', 'marta@example.cl', 'marta@example.cl', 'marta@example.cl'],
    ['marta@example.cl\u200b \u200f', 'marta@example.cl', 'marta@example.cl', 'marta@example.cl'],
  ])('reads %j', (text, written, delivery, canonical) => {
    expect(readEmail(text)).toEqual({
      written,
      delivery,
      canonical,
      domain: canonical.slice(canonical.lastIndexOf('@') + 1),
    });
  });

  it.each([
    ['nothing', ''],
    ['invisible characters alone', '\u200b\u00ad'],
    ['a no-break space inside', 'marta\u00a0paz@example.cl'],
    ['a line feed inside', 'marta@example.cl\nbcc:x@example.cl'],
    ['a NUL', 'marta\u0000@example.cl'],
    ['a local part beyond ASCII', 'peña@example.cl'],
    ['one that only looks like ASCII', 'm\u0430rta@example.cl'],
    ['a joiner in the local part', 'mar\u200dta@example.cl'],
    ['a quoted local part', '"marta paz"@example.cl'],
    ['a display name', 'Marta <marta@example.cl>'],
    ['a domain of digits', 'marta@127.0.0.1'],
    ['a percent escape', 'marta@%65xample.cl'],
    ['a trailing dot', 'marta@example.cl.'],
    ['a local part of 65', `${'m'.repeat(65)}@example.cl`],
    ['an address of 255', `m@${'d.'.repeat(125)}exa`],
    ['a domain that outgrows the limit in ASCII', `m@${'ñ.'.repeat(60)}cl`],
    ['a text that is invisible for the most part', `marta@example.cl${'\u200b'.repeat(2_000)}`],
    ['a blank behind the @', 'ana@ example.com'],
  ])('refuses %s', (_case, text) => {
    expect(readEmail(text)).toBeUndefined();
  });

  it('takes a joiner where a domain has one', () => {
    expect(readEmail('marta@\u0646\u0627\u0645\u0647\u200c\u0627\u06cc.example')?.domain).toMatch(/^xn--/);
  });

  it('gives what SMTP carries unquoted, whatever comes in', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' }), (left, right) => {
        const read = readEmail(`${left}@${right}`);
        if (!read) return;
        expect(read.delivery).toMatch(/^[\x21-\x7e]+@[a-z0-9.-]+$/);
        expect(read.delivery.length).toBeLessThanOrEqual(254);
      }),
    );
  });

  it('reads its own answers as the same address', () => {
    fc.assert(
      fc.property(fc.emailAddress(), (email) => {
        const read = readEmail(email);
        if (!read) return;
        for (const again of [read.written, read.delivery, read.canonical])
          expect(readEmail(again)?.canonical).toBe(read.canonical);
      }),
    );
  });
});

describe('readMailDomain', () => {
  it('takes what mail can be addressed to', () => {
    expect(readMailDomain('Example.COM')).toBe('example.com');
    expect(readMailDomain('\u200bexample.com\u00a0')).toBe('example.com');
    for (const text of ['@example.com', '-a.example', 'com', 'exa mple.com', ''])
      expect(readMailDomain(text)).toBeUndefined();
  });
});
