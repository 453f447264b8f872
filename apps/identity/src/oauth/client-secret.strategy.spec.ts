import type { IncomingMessage } from 'node:http';
import { ApplicationPassport } from '@customer-platform/http';
import { hashClientSecret, newClientSecret } from '../vocabulary/client-secret.js';
import { ClientSecretStrategy } from './client-secret.strategy.js';

describe('the secret of a client', () => {
  const passport = new ApplicationPassport();
  new ClientSecretStrategy(passport);
  const secret = newClientSecret();
  const shown = (own: string, hash: string | undefined): Promise<object | undefined> =>
    passport.authenticate('client_secret', {} as IncomingMessage, { clientId: 'shop', secret: own, hash });

  it('is found where it is the one that is kept', async () => {
    await expect(shown(secret, hashClientSecret(secret))).resolves.toEqual({ clientId: 'shop' });
  });

  it.each([
    ['another', newClientSecret(), hashClientSecret(secret)],
    ['its hash', hashClientSecret(secret), hashClientSecret(secret)],
    ['none', '', hashClientSecret(secret)],
    ['one of a client that has none', secret, undefined],
    ['one beside a hash that is cut', secret, hashClientSecret(secret).slice(0, 32)],
  ])('is not found where %s is shown', async (_, own, hash) => {
    await expect(shown(own, hash)).resolves.toBeUndefined();
  });
});
