import type { IncomingMessage } from 'node:http';
import type { Request, Response } from 'express';
import { Problem } from '@customer-platform/problem-json';
import { ApplicationPassport } from './application-passport.js';
import { CredentialStrategy } from './credential-strategy.js';

/** Knows one key, and waits a turn of the loop before it says so. */
class OneKey extends CredentialStrategy('api_credential') {
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

const RESPONSE = {} as Response;
const asked = (passport: ApplicationPassport, authorization?: string): Promise<object | undefined> =>
  passport.authenticate('api_credential', { headers: { authorization } } as Request, RESPONSE, {
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
    expect(passport.has('api_credential')).toBe(true);
    expect(passport.has('member_token')).toBe(false);
    await expect(
      passport.authenticate('member_token', { headers: {} } as Request, RESPONSE, {}),
    ).rejects.toThrow('Unknown authentication strategy');
  });

  it('keep nothing in a session', async () => {
    const request = { headers: { authorization: 'key' } } as Request;
    await application('key').authenticate('api_credential', request, RESPONSE, {});
    expect(request).not.toHaveProperty('session');
  });
});
