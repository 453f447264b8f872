import type { IncomingMessage } from 'node:http';
import type { Request } from 'express';
import { Problem } from '@customer-platform/problem-json';
import { ApplicationPassport } from './application-passport.js';
import { CredentialStrategy } from './credential-strategy.js';

/** Knows one key, and waits a turn of the loop before it says so. */
class OneKey extends CredentialStrategy('provider_signature') {
  constructor(
    passport: ApplicationPassport,
    private readonly key: string,
  ) {
    super(passport);
  }

  override async validate(
    { headers }: IncomingMessage,
    options: { accepts: string },
  ): Promise<object | undefined> {
    const { authorization } = headers;
    await new Promise((resolve) => setImmediate(resolve));
    if (authorization === undefined) return undefined;
    if (!authorization.startsWith(this.key)) throw new Problem('invalid_token');
    return { authorization, accepts: options.accepts };
  }
}

function application(key: string): ApplicationPassport {
  const passport = new ApplicationPassport();
  new OneKey(passport, key);
  return passport;
}

const asked = (passport: ApplicationPassport, authorization?: string): Promise<object | undefined> =>
  passport.authenticate('provider_signature', { headers: { authorization } } as Request, {
    accepts: 'user',
  });

describe('the strategies of an application', () => {
  it('answer for no other one in the process', async () => {
    const [one, other] = [application('one'), application('other')];
    await expect(asked(one, 'one')).resolves.toEqual({ authorization: 'one', accepts: 'user' });
    await expect(asked(other, 'other')).resolves.toEqual({ authorization: 'other', accepts: 'user' });
    await expect(asked(one, 'other')).rejects.toMatchObject({ code: 'invalid_token' });
    await expect(asked(other, 'one')).rejects.toMatchObject({ code: 'invalid_token' });
  });

  it('tell each of many requests at once its own', async () => {
    const passport = application('key');
    const credentials = Array.from({ length: 100 }, (_, at) => `key ${String(at)}`);
    const found = await Promise.all(credentials.map((credential) => asked(passport, credential)));
    expect(found).toEqual(credentials.map((authorization) => ({ authorization, accepts: 'user' })));
  });

  it('find nothing where there is no credential, and are asked for by name', async () => {
    const passport = application('key');
    await expect(asked(passport)).resolves.toBeUndefined();
    expect(passport.has('provider_signature')).toBe(true);
    expect(passport.has('member_token')).toBe(false);
    await expect(passport.authenticate('member_token', { headers: {} } as Request, {})).rejects.toThrow(
      'Unknown authentication strategy',
    );
  });

  it('are one for each kind of credential: none takes the place of another', async () => {
    const passport = application('key');
    expect(() => new OneKey(passport, 'other')).toThrow('There are two strategies of the credential');
    await expect(asked(passport, 'other')).rejects.toMatchObject({ code: 'invalid_token' });
  });

  it('put nothing on the request, be it a session or the methods for one', async () => {
    const request = { headers: { authorization: 'key' } } as Request;
    await application('key').authenticate('provider_signature', request, {});
    expect(Object.keys(request)).toEqual(['headers']);
  });

  it('keep what one route says of itself from another', async () => {
    const passport = application('key');
    const request = { headers: { authorization: 'key' } } as Request;
    for (const accepts of ['user', 'api_key', 'user'])
      await expect(passport.authenticate('provider_signature', request, { accepts })).resolves.toEqual({
        authorization: 'key',
        accepts,
      });
  });
});
