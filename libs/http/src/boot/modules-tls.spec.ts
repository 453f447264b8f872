import { once } from 'node:events';
import { request } from 'node:https';
import { connect } from 'node:net';
import { TestAuthority } from '@customer-platform/testing';
import { startThings, testEnv } from '../../test/things.fixture.js';
import type { RunningApp } from '../index.js';
import { modulesTls } from './modules-tls.js';

let authority: TestAuthority;
let environment: Record<string, string>;
let app: RunningApp;
beforeAll(async () => {
  authority = await TestAuthority.make();
  const files = await authority.issue('core');
  environment = { ...testEnv, ...files.environment, MODULES_TLS_DEMAND_CLIENTS: 'true' };
  app = await startThings({
    env: environment,
    beforeExpress: (request, response) => {
      if (request.url !== '/hot') return false;
      response.writeHead(202).end('hot');
      return true;
    },
  });
});
afterAll(async () => {
  await app.close();
  await authority.remove();
});

/** What is answered to who has a part of what the gateway has. */
function statusOf(
  url: string,
  parts: readonly ('ca' | 'cert' | 'key')[],
  headers: Record<string, string> = {},
): Promise<number | undefined> {
  const client = modulesTls(environment)?.client ?? {};
  const given = Object.fromEntries(parts.map((name) => [name, client[name]]));
  return new Promise((resolve, reject) => {
    request(url, { agent: false, headers, ...given }, (response) => {
      response.resume().once('end', () => resolve(response.statusCode));
    })
      .once('error', reject)
      .end();
  });
}

describe('an app whose listeners demand certificates', () => {
  it('answers who has one, before Express, behind it and on the internal listener', async () => {
    expect([app.url, app.internalUrl].every((url) => url.startsWith('https://'))).toBe(true);
    const all = ['ca', 'cert', 'key'] as const;
    expect(await statusOf(`${app.url}/hot`, all)).toBe(202);
    expect(await statusOf(`${app.url}/v1/crm/things`, all, { authorization: 'Bearer all' })).toBe(200);
    expect(await statusOf(`${app.url}/metrics`, all)).toBe(200);
    expect(await statusOf(`${app.internalUrl}/internal/nothing`, all)).toBe(404);
  });

  it('answers nobody else, whatever is asked and however, but of its health', async () => {
    for (const path of ['/hot', '/v1/crm/things', '/metrics', '/openapi.json'])
      await expect(statusOf(app.url + path, ['ca'])).rejects.toThrow(/hang up|ECONNRESET/);
    const expecting = { expect: 'something' };
    await expect(statusOf(`${app.url}/hot`, ['ca'], expecting)).rejects.toThrow(/hang up|ECONNRESET/);
    await expect(statusOf(`${app.internalUrl}/internal/nothing`, ['ca'])).rejects.toThrow(
      /hang up|ECONNRESET/,
    );
    expect(await statusOf(`${app.url}/health/ready`, ['ca'])).toBe(200);
    await expect(statusOf(`${app.url}/health/ready`, [])).rejects.toThrow(/certificate/);
  });
});

it('an app ends though somebody has connected and begun no handshake', async () => {
  const other = await startThings({ env: environment });
  const { port } = new URL(other.internalUrl);
  const silent = connect(Number(port), '127.0.0.1').on('error', () => undefined);
  await once(silent, 'connect');
  await other.close();
  silent.destroy();
});
