import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTcpServer, type AddressInfo, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { moduleServer } from '@customer-platform/config';
import { modulesTls, runWithCorrelation } from '@customer-platform/http';
import { TestAuthority } from '@customer-platform/testing';
import { InternalCallRefused, InternalClient } from './internal-client.js';
import type { ServiceTokens } from './service-tokens.js';

const tokens = {
  issue: (audience: string) => Promise.resolve(`token-for-${audience}`),
} as unknown as ServiceTokens;

const addressOf = (server: { address(): unknown }): string =>
  `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;

describe('a call of another module', () => {
  let server: Server;
  let client: InternalClient;
  let answer: (request: IncomingMessage, response: ServerResponse) => void;

  beforeAll(async () => {
    server = createServer((request, response) => answer(request, response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    client = new InternalClient(tokens, { core: addressOf(server), crm: 'http://127.0.0.1:9' });
  });
  afterAll(async () => {
    await client.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  const reply = (status: number, body: string) => (_: IncomingMessage, response: ServerResponse) => {
    response.writeHead(status).end(body);
  };
  const call = { method: 'GET', path: '/internal/x', timeoutMs: 2_000 } as const;

  it('carries the service token, the correlation id and the body as JSON', async () => {
    let seen: unknown;
    answer = (request, response) => {
      void text(request).then((body) => {
        const { authorization, 'x-correlation-id': correlation, 'content-type': type } = request.headers;
        seen = { method: request.method, url: request.url, authorization, correlation, type, body };
        response.end('{"answer":42}');
      });
    };
    const id = '0190aaaa-0000-4000-8000-000000000009';
    const result = await runWithCorrelation(id, () =>
      client.call('core', { method: 'POST', path: '/internal/x?y=1', body: { a: 1 }, timeoutMs: 2_000 }),
    );
    expect(result).toEqual({ answer: 42 });
    expect(seen).toEqual({
      method: 'POST',
      url: '/internal/x?y=1',
      authorization: 'Bearer token-for-core',
      correlation: id,
      type: 'application/json',
      body: '{"a":1}',
    });
  });

  it('answers undefined for an empty answer', async () => {
    answer = reply(204, '');
    expect(await client.call('core', call)).toBeUndefined();
  });

  it.each([500, 503, 429])('dependency_unavailable when the module answers %d', async (status) => {
    answer = reply(status, '{"code":"internal_error"}');
    await expect(client.call('core', call)).rejects.toMatchObject({ code: 'dependency_unavailable' });
  });

  it('dependency_unavailable when nobody listens, when the answer is late or is no JSON', async () => {
    await expect(client.call('crm', call)).rejects.toMatchObject({ code: 'dependency_unavailable' });
    answer = () => undefined;
    await expect(client.call('core', { ...call, timeoutMs: 50 })).rejects.toMatchObject({
      code: 'dependency_unavailable',
    });
    answer = reply(200, '<html>');
    await expect(client.call('core', call)).rejects.toMatchObject({ code: 'dependency_unavailable' });
  });

  it('dependency_unavailable for a call that found no connection in time, behind a module that has fallen silent', async () => {
    const held: Socket[] = [];
    const silent = createTcpServer((socket) => held.push(socket.on('error', () => socket.destroy())));
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const waiting = new InternalClient(tokens, { identity: addressOf(silent) });
    const patient = Array.from({ length: 40 }, () =>
      waiting.call('identity', { ...call, timeoutMs: 2_000 }).catch((error: unknown) => error),
    );
    try {
      const hasty = waiting.call('identity', { ...call, timeoutMs: 50 }).catch((error: unknown) => error);
      const first = await Promise.race([hasty, ...patient]);
      expect(first).toBe(await hasty);
      expect(first).toMatchObject({ code: 'dependency_unavailable' });
    } finally {
      await waiting.close();
      for (const socket of held) socket.destroy();
      await Promise.all(patient);
      await new Promise((resolve) => silent.close(resolve));
    }
  });

  it('takes an answer that is there, although this process was late to read it', async () => {
    let now = 0;
    const late = new InternalClient(tokens, { core: addressOf(server) }, { now: () => now });
    answer = (_request, response) => {
      now += 2_001;
      response.writeHead(200).end('{}');
    };
    expect(await late.call('core', call)).toEqual({});
    await late.close();
  });

  it('is refused with the callee’s own problem', async () => {
    answer = reply(403, '{"code":"permission_denied"}');
    const refusal = await client.call('core', call).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(InternalCallRefused);
    expect(refusal).toMatchObject({ status: 403, problem: { code: 'permission_denied' } });
  });

  it('takes 404 for undefined where that is an answer', async () => {
    answer = reply(404, '{"code":"not_found"}');
    expect(await client.callOptional('core', call)).toBeUndefined();
    await expect(client.call('core', call)).rejects.toBeInstanceOf(InternalCallRefused);
    answer = reply(403, '');
    await expect(client.callOptional('core', call)).rejects.toBeInstanceOf(InternalCallRefused);
  });

  it('names the variable that is missing', async () => {
    await expect(client.call('loyalty', call)).rejects.toThrow('LOYALTY_INTERNAL_URL is missing');
  });
});

describe('a call of a module that demands certificates', () => {
  it('is answered with the one that the process has, and finds nobody without', async () => {
    const authority = await TestAuthority.make();
    const { environment } = await authority.issue('core');
    const tls = modulesTls({ ...environment, MODULES_TLS_DEMAND_CLIENTS: 'true' });
    const server = moduleServer(tls, {}, (_request, response) => response.end('{"answer":42}'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const urls = { core: addressOf(server).replace('http', 'https') };
    const trusting = modulesTls({ MODULES_TLS_CA_FILE: environment['MODULES_TLS_CA_FILE'] });
    const [known, stranger] = [tls, trusting].map(
      (each) => new InternalClient(tokens, urls, undefined, each),
    );
    const call = { method: 'GET', path: '/internal/x', timeoutMs: 20_000 } as const;
    expect(await known?.call('core', call)).toEqual({ answer: 42 });
    await expect(stranger?.call('core', call)).rejects.toMatchObject({ code: 'dependency_unavailable' });
    await Promise.all([known?.close(), stranger?.close()]);
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await authority.remove();
  });
});
