/**
 * `npm run sign-in -- [--data DIR]`
 *
 * Signs a user in to the platform that `npm start` runs, by its pages in a browser, as a program on this machine does
 * (RFC 8252): code, PKCE, and an address of this machine to come back to. Opens the program that `BROWSER` names, else
 * prints the address. The access token goes to standard output, everything else to standard error.
 */
import { spawn } from 'node:child_process';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { type Platform, runningPlatform } from '@customer-platform/kit/platform.ts';
import { adminOf } from '@customer-platform/kit/public-api.ts';
import * as oidc from 'openid-client';

const root = resolve(import.meta.dirname, '../..');
const { values } = parseArgs({ options: { data: { type: 'string', default: join(root, '.data') } } });
const say = (line: string): void => void process.stderr.write(`${line}\n`);

const CLIENT_NAME = 'This machine';
/** What a client comes back to is registered to the port; the first that is free is taken. */
const PORTS = Array.from({ length: 10 }, (_, index) => 47_810 + index);
const PATH = '/signed-in';
const PATIENCE_MS = 10 * 60_000;
const SAID =
  '<!doctype html><html lang="en"><title>Signed in</title><h1>You can close this page.</h1></html>';

const addressOf = (port: number): string => `http://127.0.0.1:${String(port)}${PATH}`;

/** The public client that is registered for this, once. */
async function clientOf(platform: Platform): Promise<string> {
  const admin = await adminOf(platform);
  const path = '/v1/identity/oauth-clients';
  for await (const { id, name } of admin.items(path)) if (name === CLIENT_NAME) return id;
  const body = { name: CLIENT_NAME, type: 'public' as const, redirect_uris: PORTS.map(addressOf) };
  return (await admin.POST(path, { body })).data.id;
}

async function listenOn(server: Server, [port, ...others]: readonly number[]): Promise<number> {
  if (port === undefined) throw new Error(`The ports ${PORTS.join(', ')} are all taken.`);
  const isFree = await new Promise<boolean>((resolved) => {
    server.once('error', () => resolved(false));
    server.listen(port, '127.0.0.1', () => resolved(true));
  });
  return isFree ? port : listenOn(server, others);
}

/** Where the browser comes back to, with the answer. */
function comesBack(server: Server, port: number): Promise<URL> {
  return new Promise((resolved, rejected) => {
    setTimeout(() => rejected(new Error('Nobody has signed in.')), PATIENCE_MS).unref();
    server.on('request', (incoming: IncomingMessage, response: ServerResponse) => {
      const url = new URL(incoming.url ?? '/', addressOf(port));
      const isAnswer = url.pathname === PATH;
      response.writeHead(isAnswer ? 200 : 404, { 'content-type': 'text/html', connection: 'close' });
      response.end(isAnswer ? SAID : '');
      if (isAnswer) resolved(url);
    });
  });
}

function open(url: URL): void {
  const program = process.env['BROWSER'];
  say(`Sign in at ${url.href}`);
  if (program === undefined || program === '') return;
  const [command = '', ...words] = program.split(' ');
  const child = spawn(command, [...words, url.href], { stdio: ['ignore', 'ignore', 'inherit'] });
  child.on('error', ({ message }) =>
    say(`${program} does not start (${message}): open the address yourself.`),
  );
  child.unref();
}

async function main(): Promise<void> {
  const platform = await runningPlatform(values.data);
  const issuer = new URL(platform.base_url);
  const options = { execute: [oidc.allowInsecureRequests] };
  const configuration = await oidc.discovery(
    issuer,
    await clientOf(platform),
    undefined,
    oidc.None(),
    options,
  );
  const server = createServer();
  const port = await listenOn(server, PORTS);
  try {
    const [pkceCodeVerifier, expectedState] = [oidc.randomPKCECodeVerifier(), oidc.randomState()];
    const back = comesBack(server, port);
    const url = oidc.buildAuthorizationUrl(configuration, {
      redirect_uri: addressOf(port),
      scope: 'openid email',
      code_challenge: await oidc.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: 'S256',
      state: expectedState,
    });
    open(url);
    const checks = { pkceCodeVerifier, expectedState, idTokenExpected: true };
    const tokens = await oidc.authorizationCodeGrant(configuration, await back, checks);
    const email = tokens.claims()?.['email'];
    say(
      `Signed in as ${typeof email === 'string' ? email : 'somebody'}, for ${String(tokens.expires_in)} s.`,
    );
    process.stdout.write(`${tokens.access_token}\n`);
  } finally {
    server.close();
  }
}

await main().catch((error: Error) => {
  const { cause } = error as { cause?: { error_description?: string } };
  say(cause?.error_description ?? error.message);
  process.exitCode = 1;
});
