import { readTrait, UNKNOWN } from '../contacts/known-traits.js';
import { identifiersNamed } from '../../people/contacts/batch/batch-row.js';
import {
  identityForms,
  matchedIdentity,
  mayBeNew,
  normalIdentity,
  READ_ANEW,
  ReadOnce,
  shownIdentity,
} from './identity-value.js';

describe('mayBeNew', () => {
  it('tells of addresses that nobody may come to have, who has one is found by it', () => {
    const address = 'Lucía@Example.cl';
    expect(mayBeNew('email', 'lucia@example.cl', null)).toBe(true);
    expect(mayBeNew('email', address, null)).toBe(false);
    expect(matchedIdentity('email', address, null)).toBe('lucía@example.cl');
    expect(matchedIdentity('email', 'lucia', null)).toBeUndefined();
    const named = (email: string) => identifiersNamed({ email }, new ReadOnce(), null);
    expect(named(address)).toEqual([{ type: 'email', normal: 'lucía@example.cl' }]);
    expect(named('lu\u200bcia@example.cl')).toEqual([{ type: 'email', normal: 'lucia@example.cl' }]);
  });

  it('tells of numbers by the plan of their country', () => {
    expect(mayBeNew('phone', '9 8765 0012', 'CL')).toBe(true);
    expect(mayBeNew('phone', '+560987650011', 'CL')).toBe(false);
    expect(normalIdentity('phone', '+560987650011', 'CL')).toBe('+560987650011');
    expect(mayBeNew('external_id', '+560987650011', null)).toBe(true);
  });
});

describe('normalIdentity', () => {
  it('keeps the identifiers of other systems byte by byte', () => {
    expect(normalIdentity('external_id', ' Ana ', null)).toBe(' Ana ');
    expect(normalIdentity('custom.push_token', 'AbC', null)).toBe('AbC');
  });
});

describe('an address, whichever of its readers reads it', () => {
  /** Each answers the address as it is shown or matched; undefined for what is none. */
  const readers: Readonly<Record<string, (text: string) => string | undefined>> = {
    trait: (text) => {
      const read = readTrait('email', text, UNKNOWN);
      return 'value' in read && read.value !== null ? read.value.toLowerCase() : undefined;
    },
    identity: (text) => normalIdentity('email', text, null),
    'read anew': (text) => READ_ANEW.email(text)?.canonical,
  };
  const names = Object.keys(readers);

  it.each(names)('%s: cuts what nobody sees', (name) => {
    for (const text of [
      'Lucia.Vera@Example.cl',
      '\u00a0lucia.vera@example.cl\u2003',
      'lucia\u200b.ve\u00adra@example.cl',
      '\u202alucia.vera@example.cl\u202c',
      '\ufefflucia.vera@exam\u2060ple.cl',
    ])
      expect(readers[name]?.(text)).toBe('lucia.vera@example.cl');
  });

  it.each(names)('%s: refuses what no mail can be sent to', (name) => {
    for (const text of [
      'luc\u00eda@example.cl',
      '"lucia vera"@example.cl',
      'lucia\u00a0vera@example.cl',
      'lucia@127.0.0.1',
      'lucia@localhost',
      'lucia@%65xample.cl',
      'lucia\u0001@example.cl',
      `${'l'.repeat(65)}@example.cl`,
    ])
      expect(readers[name]?.(text)).toBeUndefined();
  });
});

describe('identityForms', () => {
  it('has first the form of now, then that of releases before', () => {
    expect(identityForms('email', 'Lucia@Example.cl', null)).toEqual(['lucia@example.cl']);
    expect(identityForms('email', 'Lu\u200bcia@Example.cl', null)).toEqual([
      'lucia@example.cl',
      'lu\u200bcia@example.cl',
    ]);
    expect(identityForms('email', 'Luc\u00eda@Example.cl', null)).toEqual(['luc\u00eda@example.cl']);
    expect(identityForms('email', 'nobody', null)).toEqual([]);
  });
});

describe('shownIdentity', () => {
  it('keeps the case of an address, and other identifiers as they are', () => {
    expect(shownIdentity('email', ' Lucia@Example.cl\u200b')).toBe('Lucia@Example.cl');
    expect(shownIdentity('device_id', ' a ')).toBe(' a ');
  });
});
