import type { IncomingMessage } from 'node:http';
import { Controller, Module } from '@nestjs/common';
import { Problem } from '@customer-platform/problem-json';
import { call, testEnv } from '../../test/things.fixture.js';
import { createApp, Endpoint, type AuthenticatedCaller, type RunningApp } from '../index.js';
import { ApplicationPassport } from './application-passport.js';
import { CredentialStrategy } from './credential-strategy.js';

@Controller('v1/crm/doors')
class DoorController {
  @Endpoint({ method: 'GET', permission: 'crm.notes.read', summary: 'Come in' })
  enter(): string {
    return 'in';
  }
}

/** Knows the key of one application. */
class KeyOf extends CredentialStrategy('api_credential') {
  constructor(
    passport: ApplicationPassport,
    private readonly key: string,
  ) {
    super(passport);
  }

  override validate({ headers }: IncomingMessage): AuthenticatedCaller {
    if (headers.authorization !== `Bearer ${this.key}`) throw new Problem('invalid_token');
    const one = { type: 'api_key', id: this.key } as const;
    return {
      organizationId: this.key,
      organization: { id: this.key, status: 'active', settings: {} },
      principal: one,
      actor: one,
      permissions: new Set(['crm.notes.read']),
      restriction: null,
    };
  }
}

function start(key: string): Promise<RunningApp> {
  const strategy = {
    provide: KeyOf,
    useFactory: (passport: ApplicationPassport) => new KeyOf(passport, key),
    inject: [ApplicationPassport],
  };
  @Module({ controllers: [DoorController], providers: [ApplicationPassport, strategy] })
  class Root {}
  return createApp({ module: 'crm', root: Root, env: testEnv });
}

it('two applications in one process never answer for each other, also while both are asked', async () => {
  const [one, other] = [await start('one'), await start('other')];
  const status = async ({ url }: RunningApp, token: string): Promise<number> =>
    (await call(url, '/v1/crm/doors', { token })).status;
  const round = () =>
    Promise.all([status(one, 'one'), status(other, 'one'), status(one, 'other'), status(other, 'other')]);
  const rounds = await Promise.all(Array.from({ length: 10 }, round));
  expect(rounds).toEqual(rounds.map(() => [200, 401, 401, 200]));
  // Of the one that started first as well, once the other has gone.
  await other.close();
  expect([await status(one, 'one'), await status(one, 'other')]).toEqual([200, 401]);
  await one.close();
});
