import { copyFile, writeFile } from 'node:fs/promises';
import type { Server } from 'node:http';
import { type RequestOptions, request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls';
import { TestAuthority, type TestFiles } from '@customer-platform/testing';
import { moduleServer, ModulesTls, modulesTlsConfig } from './modules-tls.js';
import { ConfigError, readConfig } from './read-config.js';

let [ours, another]: TestAuthority[] = [];
let server: Server | undefined;
const told: unknown[] = [];

beforeAll(async () => {
  [ours, another] = await Promise.all([TestAuthority.make(), TestAuthority.make()]);
});
afterEach(async () => {
  server?.closeAllConnections();
  await new Promise((resolve) => (server ? server.close(resolve) : resolve(undefined)));
  server = undefined;
});
afterAll(() => Promise.all([ours?.remove(), another?.remove()]));

const tlsOf = (environment: Readonly<Record<string, string>>): ModulesTls | undefined =>
  ModulesTls.of(readConfig(modulesTlsConfig, environment), (error) => told.push(error));

async function issued(name: string, by = ours): Promise<TestFiles> {
  if (!by) throw new Error('There is no authority');
  return by.issue(name);
}

async function listening(environment: Readonly<Record<string, string>>): Promise<string> {
  server = moduleServer(tlsOf(environment), {}, (_request, response) => response.end('answered'));
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  return `https://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
}

/** What comes of a call, with the certificate that the server showed. */
function asked(url: string, options: RequestOptions = {}): Promise<{ status: number; serial: string }> {
  return new Promise((resolve, reject) => {
    request(url, { agent: false, ...options }, (response) => {
      const serial = (response.socket as TLSSocket).getPeerCertificate().serialNumber;
      response.resume().once('end', () => resolve({ status: response.statusCode ?? 0, serial }));
    })
      .once('error', reject)
      .end();
  });
}

/** A request on a connection of its own: what came back, and the session to resume it by. */
async function spoken(options: ConnectionOptions, path: string) {
  const socket = connect({ host: '127.0.0.1', ...options });
  let session: Buffer | undefined;
  let resumed = false;
  socket.once('secureConnect', () => (resumed = socket.isSessionReused()));
  socket.on('session', (given: Buffer) => (session = given));
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
  let text = '';
  for await (const chunk of socket) text += String(chunk);
  return { text, session, resumed };
}

const callerOf = ({ environment }: TestFiles) => tlsOf(environment)?.client ?? {};
const DEMANDING = { MODULES_TLS_DEMAND_CLIENTS: 'true' };

describe('TLS between modules', () => {
  it('answers who trusts its authority, and no one else sees an answer', async () => {
    const files = await issued('server');
    const url = await listening(files.environment);
    expect(await asked(url, { ca: callerOf(files).ca })).toMatchObject({ status: 200 });
    await expect(asked(url)).rejects.toThrow(/certificate/);
    await expect(asked(url, callerOf(await issued('stranger', another)))).rejects.toThrow(/certificate/);
  });

  it('where it demands certificates, answers those of its authority alone, and everybody of its health', async () => {
    const [files, caller] = [await issued('demanding'), await issued('caller')];
    const stranger = callerOf(await issued('stranger', another));
    const url = await listening({ ...files.environment, ...DEMANDING });
    const { ca, ...own } = callerOf(caller);
    expect(await asked(`${url}/v1`, { ca, ...own })).toMatchObject({ status: 200 });
    for (const path of ['/v1', '/metrics', '/health/ready?x', '/health/live/../../v1']) {
      await expect(asked(url + path, { ca })).rejects.toThrow(/socket hang up|ECONNRESET/);
      await expect(asked(url + path, { ...stranger, ca })).rejects.toThrow(/socket hang up|ECONNRESET/);
    }
    expect(await asked(`${url}/health/ready`, { ca })).toMatchObject({ status: 200 });
  });

  it('answers nobody who resumes a session that was begun without a certificate, and who began it with one', async () => {
    const files = await issued('resumed');
    const { port } = new URL(await listening({ ...files.environment, ...DEMANDING }));
    const { ca, ...own } = callerOf(files);
    for (const [given, answer] of [
      [{ ca }, ''],
      [{ ca, ...own }, 'answered'],
    ] as const) {
      const begun = await spoken({ ...given, port: Number(port) }, '/health/ready');
      expect(begun).toMatchObject({ text: expect.stringContaining('answered') as string, resumed: false });
      const again = await spoken({ ...given, port: Number(port), session: begun.session }, '/v1');
      expect(again).toMatchObject({ text: expect.stringContaining(answer) as string, resumed: true });
      if (answer === '') expect(again.text).toBe('');
    }
  });

  it('shows a renewed certificate to new connections without a restart, on both sides', async () => {
    const files = await issued('renewed');
    const tls = tlsOf({ ...files.environment, ...DEMANDING });
    const url = await listening({ ...files.environment, ...DEMANDING });
    const before = await asked(url, callerOf(files));
    const connect = tls?.following((client) => (to: string, done: (answer: unknown) => void) => {
      asked(to, client).then(done, done);
    });
    await issued('renewed');
    await tls?.look();
    const after = await new Promise((resolve) => connect?.(url, resolve));
    expect(after).toMatchObject({ status: 200 });
    expect(after).not.toEqual(before);
  });

  it('goes on with what it had while one of two files is not renewed yet, and takes both when it is', async () => {
    const files = await issued('halfway');
    const tls = tlsOf(files.environment);
    const url = await listening(files.environment);
    const before = await asked(url, callerOf(files));
    await copyFile((await issued('next')).cert, files.cert);
    await expect(tls?.look()).rejects.toThrow('The files of MODULES_TLS_* hold no certificate with its key.');
    expect(await asked(url, { ca: tls?.client.ca })).toEqual(before);
    await copyFile((await issued('next')).key, files.key);
    await copyFile(files.cert.replace('halfway', 'next'), files.cert);
    await tls?.look();
    expect(await asked(url, { ca: tls?.client.ca })).not.toEqual(before);
  });

  it('is plain HTTP where nothing is configured, and for who only names whom it trusts', async () => {
    expect(tlsOf({})).toBeUndefined();
    const { ca } = await issued('trusting');
    const trusting = tlsOf({ MODULES_TLS_CA_FILE: ca });
    expect(trusting?.listens).toBe(false);
    expect(Object.keys(trusting?.client ?? {})).toEqual(['ca', 'minVersion']);
  });

  it('refuses what cannot be meant, in a sentence that names variables', async () => {
    const { environment, key, ca } = await issued('refused');
    await writeFile(ca, 'no certificate');
    const { MODULES_TLS_CA_FILE: _, ...withoutCa } = environment;
    for (const [given, sentence] of [
      [{ MODULES_TLS_KEY_FILE: key }, /CERT_FILE and MODULES_TLS_KEY_FILE need each other/],
      [{ ...withoutCa, ...DEMANDING }, /DEMAND_CLIENTS needs MODULES_TLS_CA_FILE/],
      [{ ...withoutCa, MODULES_TLS_CERT_FILE: '/nowhere' }, /file of MODULES_TLS_CERT_FILE cannot be read/],
      [{ ...withoutCa, MODULES_TLS_KEY_FILE: ca }, /hold no certificate with its key/],
    ] as const) {
      expect(() => tlsOf(given)).toThrow(ConfigError);
      expect(() => tlsOf(given)).toThrow(sentence);
    }
  });
});
