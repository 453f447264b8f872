import { connect } from 'node:net';
import { createApp, type BootOptions, type RunningApp } from '../src/index.js';
import { ThingsModule } from './things.module.js';

/** The environment of an app in tests. */
export const testEnv = { CURSOR_SECRET: 'c'.repeat(32), LOG_LEVEL: 'silent' };

/** Starts the app of things. */
export function startThings(options: Partial<BootOptions> = {}): Promise<RunningApp> {
  return createApp({ module: 'crm', root: ThingsModule, env: testEnv, ...options });
}

/** An answer as tests look at it. */
interface Seen {
  status: number;
  headers: Headers;
  body: any; // eslint-disable-line @typescript-eslint/no-explicit-any -- tests judge what comes
}

/** Calls an app with a token that may do everything; a body is sent as JSON. */
export async function call(
  base: string,
  path: string,
  init: { method?: string; token?: string | null; body?: unknown; headers?: Record<string, string> } = {},
): Promise<Seen> {
  const { method = 'GET', token = 'all', body } = init;
  const response = await fetch(base + path, {
    method,
    redirect: 'manual',
    headers: {
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...init.headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === '' ? undefined : parse(text) };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Sends bytes as they are and answers all that comes back until the connection ends. */
export async function raw(base: string, bytes: string | Buffer): Promise<string> {
  const { hostname, port } = new URL(base);
  const socket = connect(Number(port), hostname);
  socket.write(bytes);
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

/** The problem in a raw answer. */
export function problemOf(answer: string): Record<string, unknown> {
  return JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4));
}
