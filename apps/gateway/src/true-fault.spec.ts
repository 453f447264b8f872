import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const ROOT = join(import.meta.dirname, '../../..');
/** Both are faults that nobody foresaw: what a process does of itself with them is to end at once. */
const FAULTS = {
  'an error that nobody caught': "throw new Error('fault')",
  'a rejection that nobody heard': "void Promise.reject(new Error('fault'))",
};

let module: Server;
let gateway: ChildProcess;
afterEach(() => {
  gateway.kill('SIGKILL');
  module.closeAllConnections();
  module.close();
});

/** The gateway as a process of its own, from its sources, in which a signal makes the fault; resolves with its address. */
async function start(fault: string, upstream: string): Promise<string> {
  const onSignal = `process.on('SIGUSR2', () => { ${fault}; });`;
  const loader = join(ROOT, 'apps/core/test/source-loader.mjs');
  const preload = `data:text/javascript,${encodeURIComponent(onSignal)}`;
  const modules = ['CORE', 'CRM', 'IDENTITY', 'MESSAGING', 'LOYALTY'].map((name) => [
    `${name}_URL`,
    upstream,
  ]);
  gateway = spawn(
    process.execPath,
    ['--conditions=source', '--import', loader, '--import', preload, join(ROOT, 'apps/gateway/src/main.ts')],
    {
      env: {
        ...Object.fromEntries(modules),
        PATH: process.env['PATH'],
        PLATFORM_MODE: 'local',
        HOST: '127.0.0.1',
        PORT: '0',
        INTERNAL_PORT: '0',
        DRAIN_SECONDS: '0',
        LOG_LEVEL: 'info',
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  if (gateway.stdout === null) throw new Error('Its output is piped');
  for await (const line of createInterface({ input: gateway.stdout })) {
    const { msg, url } = JSON.parse(line) as { msg: string; url?: string };
    if (msg === 'listening' && url !== undefined) return url;
  }
  throw new Error('The gateway did not start');
}

describe('a gateway that comes upon a fault', () => {
  it.each(Object.entries(FAULTS))('lets what runs be answered, and ends with 1: %s', async (_name, fault) => {
    const begun = Promise.withResolvers<ServerResponse>();
    module = createServer((request, response) => {
      request.resume();
      begun.resolve(response);
    }).listen(0, '127.0.0.1');
    await once(module, 'listening');
    const url = await start(fault, `http://127.0.0.1:${String((module.address() as AddressInfo).port)}`);
    const answer = fetch(`${url}/v1/core/contacts`);
    const underway = await begun.promise;
    const ended = once(gateway, 'exit');
    gateway.kill('SIGUSR2');
    // It takes no new connection: the fault has been met.
    for (let taken = true; taken;) {
      taken = await fetch(`${url}/problems`).then(
        () => true,
        () => false,
      );
    }
    underway.end('answered');
    expect(await (await answer).text()).toBe('answered');
    expect(await ended).toEqual([1, null]);
  });
});
