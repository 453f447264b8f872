/**
 * `npm run oidc:clients -- [--data DIR] [--only openid-client,oauth4webapi,go,python]`
 *
 * The provider by others' hands: `openid-client`, `oauth4webapi`, Go's and Python's libraries each walk discovery, code
 * with PKCE, userinfo, refresh, client credentials, introspection, revocation and signing out. The person who signs in
 * fills the forms of the pages. A line a flow, `passed` or `failed`; ends with exit code 1 if one failed or was not
 * come to.
 *
 * It starts a platform of its own, or uses the one whose data are in DIR, there in an organization of its own, which is
 * deleted again.
 */
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { startOwnPlatform } from '@customer-platform/kit/own-platform.ts';
import { runningPlatform } from '@customer-platform/kit/platform.ts';
import { oauth4webapi } from './oauth4webapi.ts';
import { openidClient } from './openid-client.ts';
import { goClient, pythonClient } from './programs.ts';
import { register, type Registered } from './registered.ts';
import { type Client, FLOWS } from './walk.ts';

const root = resolve(import.meta.dirname, '../..');
const { values } = parseArgs({
  options: { data: { type: 'string' }, only: { type: 'string', default: '' } },
});
const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** Each is made when it is wanted: those of other languages are built first. */
const CLIENTS: readonly [name: string, make: () => Client | Promise<Client>][] = [
  ['openid-client', () => openidClient],
  ['oauth4webapi', () => oauth4webapi],
  ['go', () => goClient(root)],
  ['python', () => pythonClient(say)],
];

async function main(): Promise<void> {
  const wanted = CLIENTS.filter(([name]) => values.only === '' || values.only.split(',').includes(name));
  if (wanted.length === 0) throw new Error(`Clients are ${CLIENTS.map(([name]) => name).join(', ')}.`);
  // Before the platform, which would only wait for them.
  const clients: Client[] = [];
  for (const [, make] of wanted) clients.push(await make());
  if (values.data !== undefined) return tryAll(resolve(values.data), clients);
  const own = await startOwnPlatform(root, 'oidc-clients', say);
  try {
    await tryAll(own.data, clients);
  } finally {
    await own.stop();
  }
}

async function tryAll(data: string, clients: readonly Client[]): Promise<void> {
  const registered = await register(await runningPlatform(data));
  try {
    let failed = 0;
    for (const client of clients) failed += await tryOne(registered, client);
    const tried = clients.length * FLOWS.length;
    say(`${tried - failed} of ${tried} passed`);
    if (failed > 0) process.exitCode = 1;
  } finally {
    await registered.remove();
  }
}

/** How many flows of a client did not pass. */
async function tryOne({ subject, person }: Registered, client: Client): Promise<number> {
  const passed = new Set<string>();
  const line = (flow: string, how: string): void =>
    say(`${client.name.padEnd(38)} ${flow.padEnd(20)} ${how}`);
  try {
    await client.walk(subject, person(), ({ flow, reason }) => {
      if (reason === undefined) passed.add(flow);
      line(flow, reason === undefined ? 'passed' : `failed: ${reason}`);
    });
  } catch (error) {
    say(`${client.name}: ${(error as Error).message}`);
  }
  const missing = FLOWS.filter((flow) => !passed.has(flow));
  if (missing.length > 1) say(`${client.name} did not come to all: ${missing.join(', ')}`);
  return missing.length;
}

await main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
