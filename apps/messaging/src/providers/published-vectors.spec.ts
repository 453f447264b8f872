import { http } from './http/http.provider.js';
import type { Account, Provider } from './provider.js';
import { twilio } from './twilio/twilio.provider.js';
import type { WebhookCall } from './webhook.js';

function verifyBy(provider: Provider, path: string, call: WebhookCall, secret: string): unknown {
  const account: Account = {
    channel: 'sms',
    setting: { enabled: true, provider: provider.name, max_per_second: 1, consent_mode: 'opt_out' },
    secret: () => secret,
    platform: { local: false, smtp: undefined, http: undefined },
    byDefault: false,
  };
  const fetch = () => Promise.reject(new Error('nothing is asked for'));
  return provider.webhooks[path]?.verify(call, account, { fetch });
}

describe('published vectors', () => {
  const now = new Date(1_614_265_330_000);
  const body = Buffer.from('{"test": 2432232314}');
  const standard = {
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  };
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

  it('of Standard Webhooks verifies, also among several signatures and without the prefix', () => {
    const verify =
      (headers: object, key = secret, at = now) =>
      () =>
        verifyBy(http, 'standard', { url: '', headers: { ...standard, ...headers }, body, now: at }, key);
    expect(verify({})).not.toThrow();
    expect(verify({}, secret.slice(6))).not.toThrow();
    expect(verify({ 'webhook-signature': `v1,AAAA ${standard['webhook-signature']} v1a,x` })).not.toThrow();
    expect(verify({ 'webhook-signature': standard['webhook-signature'].replace('v1,', 'v2,') })).toThrow();
    const after = (others: number): string => `${'v1,AAAA '.repeat(others)}${standard['webhook-signature']}`;
    expect(verify({ 'webhook-signature': after(19) })).not.toThrow();
    // Nobody signs so often; each would be compared for a caller who has proved nothing.
    expect(verify({ 'webhook-signature': after(20) })).toThrow();
    expect(verify({}, secret, new Date(now.getTime() + 300_000))).not.toThrow();
    expect(verify({}, secret, new Date(now.getTime() + 301_000))).toThrow(
      expect.objectContaining({ code: 'stale_signature' }),
    );
  });

  /** Of Twilio's own documentation and helper libraries. */
  const form = {
    CallSid: 'CA1234567890ABCDE',
    Caller: '+14158675309',
    Digits: '1234',
    From: '+14158675309',
    To: '+18005551212',
  };
  const call =
    (fields: Record<string, string>, url = 'https://mycompany.com/myapp.php?foo=1&bar=2') =>
    () =>
      verifyBy(
        twilio,
        'twilio',
        {
          url,
          headers: { 'x-twilio-signature': 'RSOYDt4T1cUTdK1PDd93/VVr8B8=' },
          body: Buffer.from(new URLSearchParams(fields).toString()),
          now,
        },
        '12345',
      );

  it('of Twilio verifies, in any order of its fields, with the usual port or without', () => {
    expect(call(form)).not.toThrow();
    expect(call(Object.fromEntries(Object.entries(form).reverse()))).not.toThrow();
    expect(call(form, 'https://mycompany.com:443/myapp.php?foo=1&bar=2')).not.toThrow();
    expect(call({ ...form, Digits: '1235' })).toThrow();
    expect(call(form, 'https://mycompany.com/myapp.php?foo=1&bar=3')).toThrow();
    expect(call(form, 'http://mycompany.com/myapp.php?foo=1&bar=2')).toThrow();
  });
});
