import { call, startThings, testEnv } from '../../test/things.fixture.js';

/** The address of the caller, as an app that believes these addresses sees it. */
async function seen(gateway: string, header: string): Promise<unknown> {
  const app = await startThings({ env: { ...testEnv, GATEWAY_ADDRESSES: gateway } });
  try {
    const headers = { 'x-forwarded-for': header };
    const { body } = await call(app.url, '/v1/crm/things/mfa', { headers });
    return (body as { ip: unknown }).ip;
  } finally {
    await app.close();
  }
}

describe('the address of the caller', () => {
  it('is the last that the gateway wrote', async () => {
    expect(await seen('127.0.0.0/8,::1', '6.6.6.6, 203.0.113.9')).toBe('203.0.113.9');
  });

  it('is the peer’s, whatever it claims, where the peer is not the gateway', async () => {
    expect(await seen('10.0.0.0/8', '203.0.113.9')).toBe('127.0.0.1');
  });
});
