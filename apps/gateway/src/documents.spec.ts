import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Documents } from './documents.js';
import { MODULES, type ModuleName } from './routes.js';
import { Upstream } from './upstream.js';

let server: Server;
let upstreams: Record<ModuleName, Upstream>;
let asked = 0;
let isThere = false;
beforeAll(async () => {
  server = createServer((_request, response) => {
    asked += 1;
    if (isThere) response.end(JSON.stringify({ openapi: '3.1.0', paths: {} }));
    else response.writeHead(500).end();
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const origin = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  upstreams = Object.fromEntries(
    MODULES.map((name) => [name, new Upstream(name, origin)]),
  ) as typeof upstreams;
});
afterAll(async () => {
  await Promise.all(Object.values(upstreams).map((upstream) => upstream.destroy()));
  await new Promise((done) => server.close(done));
});

it('a description that lacks modules is not made anew for each who asks, and is whole soon after they are there', async () => {
  let now = 0;
  const documents = new Documents(upstreams, '1', {}, false, () => now);
  const missing = async (): Promise<unknown> => {
    const { body } = (await documents.at('/v1/openapi.json')) ?? {};
    return (JSON.parse(String(body)) as Record<string, unknown>)['x-missing-modules'];
  };
  for (let reader = 0; reader < 50; reader += 1) expect(await missing()).toEqual(MODULES);
  expect(asked).toBe(MODULES.length);
  isThere = true;
  now += 2_000;
  expect(await missing()).toBeUndefined();
});
