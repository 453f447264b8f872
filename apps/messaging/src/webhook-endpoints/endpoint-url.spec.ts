import type { ResolveHost } from '@customer-platform/outbound';
import { Problem } from '@customer-platform/problem-json';
import { HOSTILE_LITERALS, MALFORMED } from '@customer-platform/testing';
import { checkEndpointUrl } from './endpoint-url.js';

const PRIVATE: ResolveHost = () => Promise.resolve([{ address: '127.0.0.1', family: 4 }]);
const PUBLIC: ResolveHost = () => Promise.resolve([{ address: '93.184.215.14', family: 4 }]);

async function codeOf(url: string, local: boolean, resolve: ResolveHost): Promise<string | undefined> {
  try {
    await checkEndpointUrl(url, { local, outboundPorts: [8443] }, resolve);
    return undefined;
  } catch (error) {
    if (error instanceof Problem) return error.code;
    throw error;
  }
}

describe('checkEndpointUrl', () => {
  it.each(HOSTILE_LITERALS)('destination_not_allowed for %s', async (url) => {
    expect(await codeOf(url, false, PRIVATE)).toBe('destination_not_allowed');
  });

  it.each(MALFORMED)('validation_failed for %j', async (url) => {
    expect(await codeOf(url, false, PUBLIC)).toBe('validation_failed');
  });

  it('refuses a name that is private, and takes one that is public or not there yet', async () => {
    expect(await codeOf('https://hooks.example/', false, PRIVATE)).toBe('destination_not_allowed');
    expect(await codeOf('https://hooks.example/', false, PUBLIC)).toBeUndefined();
    expect(
      await codeOf('https://hooks.example/', false, () => Promise.reject(new Error('ENOTFOUND'))),
    ).toBeUndefined();
  });

  it('refuses ports that are not called, whoever resolves', async () => {
    expect(await codeOf('https://hooks.example:8443/', false, PUBLIC)).toBeUndefined();
    for (const port of [22, 25, 3_000, 6_379, 65_535])
      expect(await codeOf(`https://hooks.example:${String(port)}/`, false, PUBLIC)).toBe(
        'destination_not_allowed',
      );
  });

  it('takes this machine in local mode, by http too, and nothing else that is private', async () => {
    for (const url of [
      'http://127.0.0.1:3000/',
      'http://localhost:3000/',
      'https://[::1]/',
      'http://[::1]:3000/',
    ])
      expect(await codeOf(url, true, PRIVATE)).toBeUndefined();
    expect(await codeOf('http://hooks.example/', true, PUBLIC)).toBe('validation_failed');
    expect(await codeOf('https://10.0.0.1/', true, PUBLIC)).toBe('destination_not_allowed');
    expect(await codeOf('http://10.0.0.1/', true, PUBLIC)).toBe('validation_failed');
  });
});
