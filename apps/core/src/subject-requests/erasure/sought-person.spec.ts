import { newId } from '@customer-platform/database';
import { SoughtPerson } from './sought-person.js';

const contactId = newId();
const person = new SoughtPerson(
  [contactId],
  [
    { type: 'external_id', normal: 'ana/1' },
    { type: 'email', normal: 'ñandú@xn--mnchen-3ya.example' },
    { type: 'phone', normal: '+56912345678' },
    { type: 'custom.card', normal: 'C-1' },
    { type: 'custom.a', normal: 'event' },
    { type: 'custom.b', normal: 'somebody@example.com' },
  ],
);

const track = (overrides: Record<string, unknown> = {}): Record<string, unknown> => ({
  event: 'invoice_paid',
  external_id: 'somebody',
  idempotency_key: 'k',
  occurred_at: '2026-01-15T12:00:00.000Z',
  ...overrides,
});
const identify = (traits: Record<string, unknown>, identities?: unknown): Record<string, unknown> => {
  const { event: _, ...common } = track();
  return { ...common, traits, ...(identities === undefined ? {} : { identities }) };
};
const isIn = (body: unknown): boolean => {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return person.isInLetter(text.includes('"traits"') ? 'identify' : 'track', Buffer.from(text));
};

describe('a dead letter is of the person', () => {
  it.each([
    ['by the external id', track({ external_id: 'ana/1' })],
    ['by an identity', identify({}, [{ type: 'custom.card', value: 'C-1' }])],
    ['by an address of another case and domain', identify({ email: ' ÑANDÚ@MÜNCHEN.example ' })],
    [
      'by an address in escapes',
      '{"external_id":"x","traits":{"email":"\\u00f1and\\u00fa@m\\u00fcnchen.example"}}',
    ],
    ['by a number with blanks', identify({ phone: '+56 9 1234 5678' })],
    ['by a national number of the country said', identify({ phone: '9 1234 5678', country: ' cl ' })],
    ['by a national number that says no country', identify({ phone: '(9) 1234-5678' })],
    ['by a number in digits of another script', identify({ phone: '+٥٦٩١٢٣٤٥٦٧٨' })],
    [
      'by a number that a spreadsheet wrote as an amount',
      identify({ phone: '56912345678.0', country: 'CL' }),
    ],
    ['by an amount that says no country', identify({ phone: '+56912345678,00' })],
    ['by a phone among the identities', identify({}, [{ type: 'phone', value: '+56-9-1234-5678' }])],
    ['by the external id of what is no right event', { external_id: 'ana/1', traits: 1 }],
    [
      'by an address in what is no right event',
      track({ external_id: 7, properties: { to: 'ñandú@münchen.example' } }),
    ],
    ['by a number in what is no JSON', '{"phone": "9 1234 5678", '],
    ['by an escaped address in what is no JSON', '{"mail": "\\u00d1and\\u00fa@m\\u00fcnchen.example", '],
    ['by an escaped link in what is no JSON', '{"href": "mailto:\\/\\/ñandú@münchen.example\\/x", '],
    ['by the contact’s id in what is no JSON', `{"at": "/contacts/${contactId.toUpperCase()}`],
  ])('%s', (_, body) => expect(isIn(body)).toBe(true));

  it.each([
    ['whose member has the name of a value', track()],
    ['that has the value as one of another type', identify({ email: 'somebody@example.com' })],
    ['that has the value as an identity of another type', identify({}, [{ type: 'custom.z', value: 'C-1' }])],
    [
      'that mentions the person beside somebody else',
      track({ properties: { friend: 'ñandú@münchen.example' } }),
    ],
    ['with the national number of another country', identify({ phone: '9 1234 5678', country: 'PE' })],
    ['with a longer address', '{"mail": "juan.ñandú@münchen.example.org", '],
    ['that is no JSON and has a member of that name', '{"event": "C-1", "id": '],
    ['that is empty', ''],
  ])('not one %s', (_, body) => expect(isIn(body)).toBe(false));

  it('by the number that was made of an amount once, zeros included', () => {
    const former = new SoughtPerson([], [{ type: 'phone', normal: '+569876500020' }]);
    const letter = identify({ phone: '56987650002.0', country: 'CL' });
    expect(former.isInLetter('identify', Buffer.from(JSON.stringify(letter)))).toBe(true);
  });

  it('is sought in what letters come to, not in that times the identifiers', () => {
    const identifiers = Array.from({ length: 50_000 }, (_, n) => ({ type: `custom.t${n}`, normal: `v${n}` }));
    const large = new SoughtPerson([contactId], identifiers);
    const filler = Object.fromEntries(Array.from({ length: 1_600 }, (_, n) => [`key-${n}`, `value-${n}`]));
    const payload = Buffer.from(JSON.stringify(track({ external_id: 7, properties: filler })));
    const letters = Array.from({ length: 200 }, () => large.isInLetter('track', payload));
    expect(letters).not.toContain(true);
  });

  it('reads long texts of signs that mean nothing in one pass', () => {
    for (const sign of ['@', '.', '+1', '1', '1 ', '\\', '\\u', 'a@a.', '-', 'aaaaaaaa-'])
      expect(isIn(`{"${sign.repeat(32_768 / sign.length)}`)).toBe(false);
  });
});

describe('a kept answer is of the person', () => {
  it.each([
    ['by the contact’s id', { fields: [{ survivor: { contact_id: contactId } }] }],
    ['by a field', { id: newId(), phone: '+56912345678' }],
    ['by an identity', { data: [{ type: 'custom.card', value: 'C-1' }] }],
  ])('%s', (_, body) => expect(person.isInAnswer(JSON.stringify(body))).toBe(true));

  it.each([
    ['whose member has the name of a value', { event: 'x', id: newId() }],
    ['that has the value as one of another type', { id: newId(), email: 'somebody@example.com' }],
    ['that has it among attributes', { id: newId(), attributes: { email: 'ñandú@münchen.example' } }],
  ])('not one %s', (_, body) => expect(person.isInAnswer(JSON.stringify(body))).toBe(false));
});
