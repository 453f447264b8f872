import fc from 'fast-check';
import { checkAddress, checkNewAddress } from './address.js';

describe('checkAddress of an e-mail', () => {
  it.each([
    ['Ana.Rojas@Example.COM', 'Ana.Rojas@example.com', 'ana.rojas@example.com'],
    ['ana@BÜCHER.example', 'ana@xn--bcher-kva.example', 'ana@xn--bcher-kva.example'],
    ['ana@bu\u0308cher.example', 'ana@xn--bcher-kva.example', 'ana@xn--bcher-kva.example'],
    ['ana@ｅｘample.com', 'ana@example.com', 'ana@example.com'],
    ['ana@exa\u00admple。com', 'ana@example.com', 'ana@example.com'],
    [' Ana@Example.com\u00a0', 'Ana@example.com', 'ana@example.com'],
    ['ana\u200b@exam\u2060ple.com\u200e', 'ana@example.com', 'ana@example.com'],
    ["o'hara@example.com", "o'hara@example.com", "o'hara@example.com"],
  ])('takes %s', (given, delivery, canonical) => {
    expect(checkAddress('email', given)).toMatchObject({ delivery, canonical });
  });

  it('knows the address without its tag and the domain', () => {
    expect(checkAddress('email', 'Ana+Shop+2@Example.com')).toMatchObject({
      canonical: 'ana+shop+2@example.com',
      untagged: 'ana@example.com',
      domain: 'example.com',
    });
    expect(checkAddress('email', '+tag@example.com')?.untagged).toBeUndefined();
  });

  it('keeps dots: they are the mailbox owner’s business', () => {
    expect(checkAddress('email', 'a.b@gmail.com')?.canonical).toBe('a.b@gmail.com');
  });

  it.each([
    ['nothing', ''],
    ['no at', 'ana.example.com'],
    ['a display name', 'Ana <ana@example.com>'],
    ['angle brackets', '<ana@example.com>'],
    ['a comment', 'ana(work)@example.com'],
    ['a comment in the domain', 'ana@(work)example.com'],
    ['a quoted local part', '"ana"@example.com'],
    ['a space inside', 'an a@example.com'],
    ['a no-break space inside', 'ana\u00a0@example.com'],
    ['a line feed', 'ana@example.com\nbcc:b@example.com'],
    ['a carriage return', 'ana\r@example.com'],
    ['a NUL', 'ana\u0000@example.com'],
    ['a tab in the domain', 'ana@exam\tple.com'],
    ['two addresses', 'ana@example.com,b@example.com'],
    ['two at signs', 'ana@evil.example@example.com'],
    ['a route', '@a.example:ana@example.com'],
    ['an address literal', 'ana@[127.0.0.1]'],
    ['an IPv4 domain', 'ana@127.0.0.1'],
    ['a short IPv4 domain', 'ana@127.1'],
    ['no dot in the domain', 'root@localhost'],
    ['a trailing dot', 'ana@example.com.'],
    ['an empty label', 'ana@example..com'],
    ['a percent escape', 'ana@%65xample.com'],
    ['an underscore in the domain', 'ana@my_host.example'],
    ['a leading dot', '.ana@example.com'],
    ['two dots', 'a..na@example.com'],
    ['a local part beyond ASCII', 'añа@example.com'],
    ['a long local part', `${'a'.repeat(65)}@example.com`],
    ['a long address', `a@${'a.'.repeat(126)}com`],
    ['a full-width at sign', 'ana＠example.com'],
  ])('refuses %s', (_case, given) => {
    expect(checkAddress('email', given)).toBeUndefined();
  });

  it('gives a text that SMTP can carry unquoted, whatever comes in', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' }), (left, right) => {
        const checked = checkAddress('email', `${left}@${right}`);
        if (checked) expect(checked.delivery).toMatch(/^[\x21-\x7e]+@[a-z0-9.-]+$/);
        if (checked) expect(checked.delivery).not.toMatch(/[<>(),;:\\"[\]]/);
      }),
    );
  });

  it('is stable: a delivered address checks to itself', () => {
    fc.assert(
      fc.property(fc.emailAddress(), (email) => {
        const checked = checkAddress('email', email);
        if (!checked) return;
        expect(checkAddress('email', checked.delivery)).toEqual(checked);
        expect(checkAddress('email', email.toUpperCase())?.canonical).toBe(checked.canonical);
      }),
    );
  });
});

describe('checkAddress of a phone number', () => {
  it.each(['+56 9 6123 4567', '+56-9-6123-4567', '+56 (9) 6123.4567', '+56961234567', '+56\u00a0961234567'])(
    'reads %s as one number',
    (given) => {
      expect(checkAddress('sms', given)?.delivery).toBe('+56961234567');
    },
  );

  it('drops a trunk prefix, so that it does not make another address', () => {
    expect(checkAddress('sms', '+44 (0)20 7123 4567')?.canonical).toBe('+442071234567');
  });

  it.each([
    '961234567',
    '0056961234567',
    '+0961234567',
    '+56',
    'call +56961234567',
    '+56961234567;ext=1',
    '+1',
  ])('refuses %s', (given) => {
    expect(checkAddress('sms', given)).toBeUndefined();
  });
});

describe('checkNewAddress of a phone number', () => {
  it.each(['sms', 'whatsapp'] as const)(
    'takes for %s what the numbering plan of its country has',
    (channel) => {
      expect(checkNewAddress(channel, '+56 (0)9 8765 0031')?.delivery).toBe('+56987650031');
      expect(checkNewAddress(channel, '+560987650032')).toBeUndefined();
      expect(checkNewAddress(channel, '+56987650033.0')).toBeUndefined();
    },
  );

  it('leaves to be compared what stands stored', () => {
    expect(checkAddress('sms', '+560987650032')?.canonical).toBe('+560987650032');
    expect(checkNewAddress('email', 'ana@example.com')?.canonical).toBe('ana@example.com');
  });
});

describe('checkAddress of the other channels', () => {
  it('knows a browser by its endpoint, however its subscription is written', () => {
    const endpoint = 'https://push.example/send/AbC';
    const [one, other] = ['k1', 'k2'].map((p256dh) =>
      JSON.stringify({ endpoint, keys: { p256dh, auth: 'a' } }),
    );
    for (const token of [one, other, `{"keys":{},"endpoint":"HTTPS://push.example:443/send/AbC"}`])
      expect(checkAddress('push', token ?? '')).toEqual({
        channel: 'push',
        delivery: token,
        canonical: endpoint,
        former: token,
      });
    for (const token of ['{', '{}', '{"endpoint":7}', '{"endpoint":"no-address"}'])
      expect(checkAddress('push', token)).toEqual({ channel: 'push', delivery: token, canonical: token });
  });

  it('takes a push token as it is', () => {
    expect(checkAddress('push', 'fcm:AbC-123')?.canonical).toBe('fcm:AbC-123');
    expect(checkAddress('push', 'with space')).toBeUndefined();
    expect(checkAddress('push', '')).toBeUndefined();
  });

  it('takes a contact id as the address of its inbox', () => {
    const id = '0197f6a0-0000-7000-8000-00000000000A';
    expect(checkAddress('in_app', id)?.canonical).toBe(id.toLowerCase());
    expect(checkAddress('in_app', 'me')).toBeUndefined();
  });
});
