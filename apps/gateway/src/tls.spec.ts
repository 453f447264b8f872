import { once } from 'node:events';
import { connect } from 'node:net';
import { Agent, fetch } from 'undici';
import { generate } from 'selfsigned';
import { type Stage, aGateway } from './gateway.fixture.js';

let stage: Stage;
afterEach(() => stage.close());

it('serves HTTPS with the certificate it is given, and tells the modules so', async () => {
  const made = await generate([{ name: 'commonName', value: 'localhost' }], { keySize: 2048 });
  const tls = { cert: Buffer.from(made.cert), key: Buffer.from(made.private) };
  stage = await aGateway((request, response) => response.end(String(request.headers['x-forwarded-proto'])), {
    config: { tls },
  });
  expect(stage.gateway.url).toMatch(/^https:/);
  const dispatcher = new Agent({
    connect: { ca: made.cert, servername: 'localhost', checkServerIdentity: () => undefined },
  });
  const answer = await fetch(`${stage.gateway.url}/v1/core/events`, { dispatcher });
  expect(await answer.text()).toBe('https');
  expect(answer.headers.get('strict-transport-security')).toBe('max-age=31536000');
  for (const path of ['/problems', '/no/such/path']) {
    const own = await fetch(`${stage.gateway.url}${path}`, { dispatcher });
    expect(own.headers.get('strict-transport-security')).toBe('max-age=31536000');
    await own.text();
  }
  const strict = new Agent();
  await expect(fetch(`${stage.gateway.url}/v1/core/events`, { dispatcher: strict })).rejects.toThrow();
  await Promise.all([dispatcher.close(), strict.close()]);
});

it('ends though somebody has connected and begun no handshake', async () => {
  const made = await generate([{ name: 'commonName', value: 'localhost' }], { keySize: 2048 });
  const tls = { cert: Buffer.from(made.cert), key: Buffer.from(made.private) };
  stage = await aGateway((_request, response) => response.end(), { config: { tls } });
  const accepted = once(stage.gateway.server, 'connection');
  const silent = connect(Number(new URL(stage.gateway.url).port), '127.0.0.1').on('error', () => undefined);
  await accepted;
  // A handshake may take longer than this test.
  await stage.gateway.close(50);
  silent.destroy();
});
