import { AddressList } from '@customer-platform/config';
import { readGatewayConfig } from './gateway.config.js';
import { type Stage, aGateway } from './gateway.fixture.js';

let stage: Stage | undefined;
afterEach(async () => {
  await stage?.close();
  stage = undefined;
});

/** What the module behind a gateway with these proxies is told of a request with these headers. */
async function told(proxies: string[], headers: Record<string, string>) {
  stage ??= await aGateway((request, response) => response.end(JSON.stringify(request.headers)), {
    config: { trustedProxies: new AddressList(proxies) },
  });
  const answer = await fetch(`${stage.gateway.url}/v1/core/events`, { headers });
  const seen = (await answer.json()) as Record<string, string>;
  return {
    address: seen['x-forwarded-for'],
    protocol: seen['x-forwarded-proto'],
    host: seen['x-forwarded-host'],
    hsts: answer.headers.get('strict-transport-security'),
  };
}

const claimed = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'evil.test' };
const asItIs = { address: '127.0.0.1', protocol: 'http', host: 'platform.test', hsts: null };

describe('what a request says of its origin', () => {
  it('is not believed of anybody by default', async () => {
    expect(await told([], { ...claimed, 'x-forwarded-for': '203.0.113.9' })).toEqual(asItIs);
  });

  it('is not believed of a peer that is no trusted proxy', async () => {
    const proxies = ['10.0.0.0/8', '192.0.2.7', 'fd00::/8'];
    expect(await told(proxies, { ...claimed, 'x-forwarded-for': '203.0.113.9' })).toEqual(asItIs);
    expect(await told(proxies, { ...claimed, 'x-forwarded-for': '10.0.0.1' })).toEqual(asItIs);
  });

  it('is believed of a trusted proxy, but for the host', async () => {
    const headers = { ...claimed, 'x-forwarded-for': '203.0.113.9' };
    expect(await told(['127.0.0.0/8'], headers)).toEqual({
      address: '203.0.113.9',
      protocol: 'https',
      host: 'platform.test',
      hsts: 'max-age=31536000',
    });
  });

  it.each([
    ['the last address, those before it are the caller’s words', '6.6.6.6, 203.0.113.9', '203.0.113.9'],
    ['the last that is no trusted proxy’s', '6.6.6.6, 203.0.113.9, 10.1.2.3', '203.0.113.9'],
    ['IPv4 as such, however it is written', '::ffff:203.0.113.9', '203.0.113.9'],
    ['no text that is no address', '203.0.113.9, <script>', '127.0.0.1'],
    ['nothing said', '', '127.0.0.1'],
  ])('of several proxies it is %s', async (_, header, address) => {
    const headers = { 'x-forwarded-for': header, 'x-forwarded-proto': 'https, http' };
    const seen = await told(['127.0.0.1', '10.0.0.0/8'], headers);
    expect(seen).toMatchObject({ address, protocol: 'http', hsts: null });
  });

  it('is as it is where a trusted proxy says something else than a scheme', async () => {
    expect(await told(['127.0.0.1'], { 'x-forwarded-proto': 'javascript' })).toEqual(asItIs);
  });
});

describe('the configuration', () => {
  const env = {
    PLATFORM_MODE: 'local',
    ...Object.fromEntries(
      ['CORE', 'CRM', 'IDENTITY', 'MESSAGING', 'LOYALTY'].map((name) => [
        `${name}_URL`,
        'http://127.0.0.1:1',
      ]),
    ),
  };

  it('names addresses and networks', () => {
    const given = {
      ...env,
      TRUSTED_PROXIES: '10.0.0.0/8, 192.0.2.7',
      PLATFORM_MODE: 'production',
      PUBLIC_URL: 'https://platform.test:8443',
    };
    const { trustedProxies, publicHost } = readGatewayConfig(given);
    const asked = ['10.9.9.9', '192.0.2.7', '192.0.2.8', '::ffff:10.0.0.1', 'nonsense'];
    expect(asked.filter((address) => trustedProxies.has(address))).toEqual([
      '10.9.9.9',
      '192.0.2.7',
      '::ffff:10.0.0.1',
    ]);
    expect(publicHost).toBe('platform.test:8443');
  });

  it.each(['everyone', '10.0.0.0/33', '10.0.0.0/8/8', '10.0.0.0/x'])('refuses %s', (text) => {
    expect(() => readGatewayConfig({ ...env, TRUSTED_PROXIES: text })).toThrow(/TRUSTED_PROXIES must be/);
  });

  it('refuses an address that the mode does not have', () => {
    const elsewhere = { ...env, PUBLIC_URL: 'https://platform.test' };
    expect(() => readGatewayConfig(elsewhere)).toThrow(/PUBLIC_URL must lead to localhost/);
    expect(() => readGatewayConfig({ ...env, PLATFORM_MODE: 'production' })).toThrow(/PUBLIC_URL must be/);
  });

  it('says what replaced the variable that trusted everybody', () => {
    expect(() => readGatewayConfig({ ...env, TRUST_FORWARDED: 'true' })).toThrow(/TRUSTED_PROXIES/);
    expect(() => readGatewayConfig({ ...env, TRUST_FORWARDED: 'false' })).not.toThrow();
  });
});
