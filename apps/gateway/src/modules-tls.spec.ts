import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { moduleServer, ModulesTls, modulesTlsConfig, readConfig } from '@customer-platform/config';
import { TestAuthority } from '@customer-platform/testing';
import { Agent, fetch as calls } from 'undici';
import { type Stage, aGateway } from './gateway.fixture.js';
import { Observed } from './observed.js';
import { startOperations } from './operations.js';
import { MODULES } from './routes.js';

const DEMANDING = { MODULES_TLS_DEMAND_CLIENTS: 'true' };

let [ours, another]: TestAuthority[] = [];
let module: Server;
let origin: string;
let server: ModulesTls | undefined;
let stage: Stage | undefined;

const tlsOf = (environment: Readonly<Record<string, string>>): ModulesTls | undefined =>
  ModulesTls.of(readConfig(modulesTlsConfig, environment), () => undefined);

beforeAll(async () => {
  [ours, another] = await Promise.all([TestAuthority.make(), TestAuthority.make()]);
  const files = await ours.issue('core');
  server = tlsOf({ ...files.environment, ...DEMANDING });
  module = moduleServer(server, {}, (request, response) => {
    // So that each call needs a handshake of its own.
    response.setHeader('connection', 'close');
    request.resume().once('end', () => response.end('answered'));
  });
  await new Promise<void>((resolve) => module.listen(0, '127.0.0.1', resolve));
  origin = `https://127.0.0.1:${String((module.address() as AddressInfo).port)}`;
});
afterEach(async () => {
  await stage?.close();
  stage = undefined;
});
afterAll(async () => {
  module.closeAllConnections();
  await new Promise((resolve) => module.close(resolve));
  await Promise.all([ours?.remove(), another?.remove()]);
});

/** A gateway that calls the module with these variables; the plain server of the stage is nobody's. */
async function calling(environment: Readonly<Record<string, string>>) {
  const upstreams = Object.fromEntries(MODULES.map((name) => [name, origin])) as Record<
    (typeof MODULES)[number],
    string
  >;
  const modulesTls = tlsOf(environment);
  const made = await aGateway((_request, response) => response.end(), {
    config: { upstreams, modulesTls },
  });
  stage = made;
  return { modulesTls, url: `${made.gateway.url}/v1/core/contacts` };
}

describe('a gateway before modules that demand its certificate', () => {
  it('passes requests and bodies on with the right one', async () => {
    const files = await ours?.issue('gateway');
    const { url } = await calling(files?.environment ?? {});
    expect(await (await fetch(url)).text()).toBe('answered');
    const large = await fetch(url, { method: 'POST', body: Buffer.alloc(300_000) });
    expect([large.status, await large.text()]).toEqual([200, 'answered']);
  });

  it('gets no answer without one, nor with that of another authority, and trusts no other module', async () => {
    const [known, stranger] = [await ours?.issue('known'), await another?.issue('stranger')];
    const { MODULES_TLS_CA_FILE: ca = '' } = known?.environment ?? {};
    for (const environment of [
      {},
      { MODULES_TLS_CA_FILE: ca },
      { ...stranger?.environment, MODULES_TLS_CA_FILE: ca },
      stranger?.environment ?? {},
    ]) {
      const { url } = await calling(environment);
      const answer = await fetch(url);
      expect([502, 503]).toContain(answer.status);
      expect(answer.headers.get('content-type')).toBe('application/problem+json');
      await stage?.close();
    }
    stage = undefined;
  });

  it('goes on while the certificates of both are renewed', async () => {
    const files = await ours?.issue('renewed');
    const { url, modulesTls } = await calling(files?.environment ?? {});
    const before = modulesTls?.client.cert;
    for (const renewed of ['renewed', 'core', 'renewed']) {
      await ours?.issue(renewed);
      await Promise.all([server?.look(), modulesTls?.look()]);
      expect((await fetch(url)).status).toBe(200);
    }
    expect(modulesTls?.client.cert).not.toBe(before);
  });

  it('tells of its own health to everybody, and of its metrics to who has a certificate', async () => {
    const files = await ours?.issue('operations');
    const tls = tlsOf({ ...files?.environment, ...DEMANDING });
    const operations = await startOperations(
      new Observed(),
      { host: '127.0.0.1', port: 0, tls },
      () => false,
    );
    const url = `https://127.0.0.1:${String(operations.port)}`;
    const { ca, cert, key } = tls?.client ?? {};
    const [anyone, known] = [new Agent({ connect: { ca } }), new Agent({ connect: { ca, cert, key } })];
    expect((await calls(`${url}/health/ready`, { dispatcher: anyone })).status).toBe(200);
    await expect(calls(`${url}/metrics`, { dispatcher: anyone })).rejects.toThrow();
    expect((await calls(`${url}/metrics`, { dispatcher: known })).status).toBe(200);
    await Promise.all([anyone.destroy(), known.destroy()]);
    operations.server.closeAllConnections();
    await new Promise((resolve) => operations.server.close(resolve));
  });
});
