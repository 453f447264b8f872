import { Module } from '@nestjs/common';
import { ConfigError } from '@customer-platform/config';
import {
  FaultyController,
  GuardedController,
  MemberController,
  TenantController,
  MixedController,
  OpenController,
} from '../../test/open.controller.js';
import { startThings, testEnv } from '../../test/things.fixture.js';
import { BootError, createApp, Endpoint, type EndpointOptions } from '../index.js';

async function refusal(controller: new () => object): Promise<string> {
  @Module({ controllers: [controller] })
  class Root {}
  const started = createApp({ module: 'crm', root: Root, env: testEnv });
  await expect(started).rejects.toThrow(BootError);
  return started.then(
    () => '',
    (error: Error) => error.message,
  );
}

describe('an app does not start', () => {
  it('with a route that has no endpoint decorator', async () => {
    expect(await refusal(OpenController)).toBe(
      'The app crm does not start: OpenController.forgotten has a route without an endpoint decorator.',
    );
    expect(await refusal(MixedController)).toContain('MixedController.unguarded');
  });

  it('with routes whose authorization, place or path is wrong, all named at once', async () => {
    const sentence = await refusal(FaultyController);
    for (const fault of [
      'FaultyController.neither states neither exactly one permission nor exactly one other authorization',
      'FaultyController.both states neither exactly one permission nor exactly one other authorization',
      'FaultyController.misspelt requires crm.nots.read, which does not exist',
      'FaultyController.foreign serves /v1/core/foreign, outside of its module',
      'FaultyController.internal serves /internal/open: routes under /internal are for services, and only those',
      'FaultyController.service serves /v1/crm/service: routes under /internal are for services, and only those',
      'FaultyController.again declares GET /v1/crm/twice/:other a second time',
    ]) {
      expect(sentence).toContain(fault);
    }
    expect(sentence).not.toContain('FaultyController.once');
  });

  it('without an authenticator that its routes need', async () => {
    expect(await refusal(GuardedController)).toContain('api_credential and no strategy');
    expect(await refusal(MemberController)).toContain('member_token and no strategy');
    expect(await refusal(TenantController)).toContain('tenant_token and no strategy');
  });

  it('with a bad environment', async () => {
    const started = startThings({ env: { PORT: 'x', CURSOR_SECRET: 'short' } });
    await expect(started).rejects.toThrow(ConfigError);
    await expect(started).rejects.toThrow(/PORT must be .*; CURSOR_SECRET must have at least 32 characters/);
  });

  it('when its start fails half-way, and frees its port', async () => {
    const first = await startThings();
    const { port } = new URL(first.url);
    const taken = startThings({ env: { ...testEnv, PORT: port } });
    await expect(taken).rejects.toThrow('EADDRINUSE');
    await first.close();
    const failing = startThings({
      env: { ...testEnv, PORT: port },
      connect: () => Promise.reject(new Error('no broker')),
    });
    await expect(failing).rejects.toThrow('no broker');
    const again = await startThings({ env: { ...testEnv, PORT: port } });
    expect(again.url).toBe(first.url);
    await again.close();
  });
});

describe('a started app', () => {
  it('tells its routes with their whole paths', async () => {
    const app = await startThings();
    const routes = app.routes.map(
      ({ method, fullPath, permission }) => `${method} ${fullPath} ${permission ?? ''}`,
    );
    expect(routes).toContain('GET /v1/crm/things/:id crm.notes.read');
    expect(routes).toContain('POST /v1/crm/things/:id/restore crm.notes.delete');
    expect(routes).toContain('POST /internal/things ');
    await app.close();
  });

  it('is connected before it listens', async () => {
    let connected = false;
    const app = await startThings({
      connect: (nest) => {
        connected = !(nest.getHttpServer() as import('node:net').Server).listening;
        return Promise.resolve();
      },
    });
    expect(connected).toBe(true);
    await app.close();
  });
});

describe('the endpoint decorators', () => {
  it('stand once on a handler', () => {
    class Twice {
      read(): void {
        // never called
      }
    }
    const route = { method: 'GET', authorization: 'none', summary: 'x' } as const;
    const descriptor = Object.getOwnPropertyDescriptor(Twice.prototype, 'read') as TypedPropertyDescriptor<
      () => void
    >;
    Endpoint(route)(Twice.prototype, 'read', descriptor);
    expect(() => Endpoint(route)(Twice.prototype, 'read', descriptor)).toThrow('one endpoint decorator');
  });

  it('take a permission of the registry or another authorization, checked by the compiler', () => {
    const route = { method: 'GET', summary: 'x' } as const;
    const permission = 'crm.notes.read';
    // @ts-expect-error a misspelt permission
    const misspelt: EndpointOptions = { ...route, permission: 'crm.nots.read' };
    // @ts-expect-error neither a permission nor another authorization
    const neither: EndpointOptions = { ...route };
    // @ts-expect-error both a permission and another authorization
    const both: EndpointOptions = { ...route, permission, authorization: 'none' };
    expect([misspelt, neither, both]).toHaveLength(3); // the compiler is the test
  });
});
