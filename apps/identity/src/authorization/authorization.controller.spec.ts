import { hashApiKey } from '@customer-platform/authorization';
import { Caller, peerModule, serviceTokens } from '@customer-platform/testing';
import { IdentityBench, type TestOrganization } from '../identity-app.fixture.js';

interface Body {
  code: string;
  reason?: string;
  errors?: { pointer: string }[];
}

describe('the internal interface of the registry', () => {
  let bench: IdentityBench;
  let organization: TestOrganization;
  beforeAll(async () => {
    bench = await IdentityBench.start();
    organization = await bench.organization();
  });
  afterAll(() => bench.end());

  const as = (module: string) => peerModule(module, 'identity', bench.app.internalUrl);
  const ROUTES = [
    ['POST', '/internal/authz/resolve', { key_hash: 'ab'.repeat(32) }],
    ['GET', '/internal/authz/changes', undefined],
    ['POST', '/internal/authz/confirm', { acceptances: [] }],
    ['POST', '/internal/authz/usage', { uses: [] }],
  ] as const;

  it.each(ROUTES)('%s %s needs a service token for identity', async (method, path, body) => {
    const options = body ? { body } : {};
    const call = (token?: string | ReturnType<typeof serviceTokens>) =>
      new Caller(bench.app.internalUrl, token).call<Body>(method, path, options);
    expect(await call()).toMatchObject({ status: 401, body: { code: 'missing_credentials' } });
    expect(await call(organization.adminKey)).toMatchObject({ status: 401, body: { code: 'invalid_token' } });
    const elsewhere = serviceTokens('core', 'crm');
    expect(await call(elsewhere)).toMatchObject({ status: 401, body: { code: 'invalid_token' } });
  });

  it.each(ROUTES)('%s %s is not on the public listener', async (method, path, body) => {
    const caller = new Caller(bench.app.url, serviceTokens('core', 'identity'));
    const answer = await caller.call<Body>(method, path, body ? { body } : {});
    expect(answer).toMatchObject({ status: 404, body: { code: 'route_not_found' } });
  });

  it('a token that was seen on the wire opens no other route', async () => {
    const changes = '/internal/authz/changes';
    const link = `/internal/links/password_reset/${organization.adminKeyId}?organization_id=${organization.id}`;
    const seen = await serviceTokens('messaging', 'identity')({ method: 'GET', path: changes });
    const attacker = new Caller(bench.app.internalUrl, seen);
    expect((await attacker.get(changes)).status).toBe(200);
    expect(await attacker.get(link)).toMatchObject({ status: 401, body: { code: 'invalid_token' } });
    const messaging = await as('messaging');
    expect(await messaging.get(link)).toMatchObject({ status: 404, body: { code: 'not_found' } });
  });

  it('serves every module, but confirms for core alone', async () => {
    for (const module of ['core', 'crm', 'loyalty', 'messaging']) {
      expect((await (await as(module)).get('/internal/authz/changes')).status).toBe(200);
      const { status, body } = await (
        await as(module)
      ).post<Body>('/internal/authz/confirm', { acceptances: [] });
      expect([status, body.code]).toEqual(module === 'core' ? [200, undefined] : [403, 'permission_denied']);
    }
  });

  it('resolves a key by its id and an organization by itself, and not both ways at once', async () => {
    const core = await as('core');
    const resolve = (body: object) => core.post<Body>('/internal/authz/resolve', body);
    const byId = { organization_id: organization.id, api_key_id: organization.adminKeyId };
    expect(await resolve(byId)).toMatchObject({
      status: 200,
      body: { principal: { type: 'api_key', id: organization.adminKeyId } },
    });
    expect(await resolve({ organization_id: organization.id })).toMatchObject({
      status: 200,
      body: { principal: { type: 'organization', id: organization.id }, permissions: [] },
    });
    for (const body of [{}, { ...byId, key_hash: 'ab'.repeat(32) }, { api_key_id: organization.adminKeyId }])
      expect(await resolve(body)).toMatchObject({ status: 400, body: { code: 'validation_failed' } });
  });

  it('resolves a key for a module, and tells unknown from expired', async () => {
    const core = await as('core');
    const resolve = (key: string) =>
      core.post<Body>('/internal/authz/resolve', { key_hash: hashApiKey(key) });
    expect(await resolve(organization.adminKey)).toMatchObject({
      status: 200,
      body: { organization: { id: organization.id }, principal: { id: organization.adminKeyId } },
    });
    expect(await resolve('nobody')).toMatchObject({
      status: 404,
      body: { code: 'not_found', reason: 'unknown' },
    });
    await bench.within(organization.id, (tx) =>
      tx.query(`UPDATE api_keys SET expires_at = now() WHERE id = $1`, [organization.adminKeyId]),
    );
    expect(await resolve(organization.adminKey)).toMatchObject({ status: 404, body: { reason: 'expired' } });
  });

  it.each([
    ['/internal/authz/resolve', { key_hash: 'no hash' }, '/key_hash'],
    ['/internal/authz/resolve', {}, '/key_hash'],
    [
      '/internal/authz/confirm',
      { acceptances: [{ key_hash: 'ab'.repeat(32), accepted_at: 'today' }] },
      '/acceptances/0/accepted_at',
    ],
    ['/internal/authz/usage', { uses: [{ organization_id: 'x' }] }, '/uses/0/organization_id'],
  ])('400 at %s for %j', async (path, body, pointer) => {
    const answer = await (await as('core')).post<Body>(path, body);
    expect(answer.status).toBe(400);
    expect(answer.body.errors?.map((error) => error.pointer)).toContain(pointer);
  });
});
