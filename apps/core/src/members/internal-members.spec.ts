import { Caller, peerModule } from '@customer-platform/testing';
import { START_MS, startCore, type TestCore } from '../core.fixture.js';
import { aMemberWorld, byExternalId, EXCHANGE, type Exchanged, type MemberWorld } from './member.fixture.js';

const RESOLVE = '/internal/members/resolve';

describe('POST /internal/members/resolve', () => {
  let core: TestCore;
  let world: MemberWorld;
  beforeAll(async () => {
    core = await startCore();
    world = await aMemberWorld(core);
  }, START_MS);
  afterAll(() => core.close());

  const as = (module: string) => peerModule(module, 'core', core.app.internalUrl);
  const resolve = async (token: string, module = 'messaging') => (await as(module)).post(RESOLVE, { token });
  const aToken = async () => {
    const answer = await core.app.with(world.key).post<Exchanged>(EXCHANGE, byExternalId(world.externalId));
    return answer.body.access_token;
  };

  it('says who a member is, in which organization', async () => {
    const answer = await resolve(await aToken());
    expect(answer).toMatchObject({
      status: 200,
      body: {
        organizationId: world.organizationId,
        organization: { id: world.organizationId, status: 'active' },
        principal: { type: 'member', id: world.contactId },
        restriction: null,
      },
    });
  });

  it('refuses, in an answer that is not about the caller, what is no token of ours', async () => {
    const token = await aToken();
    for (const wrong of ['nonsense', world.key, `${token.slice(0, -4)}AAAA`])
      expect(await resolve(wrong)).toMatchObject({ status: 200, body: { refused: 'invalid_token' } });
  });

  it('refuses a token whose contact is deleted', async () => {
    const token = await aToken();
    const admin = core.app.as(world.organizationId, ['core.contacts.delete']);
    expect((await admin.delete(`/v1/core/contacts/${world.contactId}`)).status).toBe(204);
    expect(await resolve(token)).toMatchObject({ body: { refused: 'invalid_token' } });
  });

  it('is for messaging alone', async () => {
    expect(await resolve('x', 'loyalty')).toMatchObject({ status: 403, body: { code: 'permission_denied' } });
    const nobody = new Caller(core.app.internalUrl);
    expect(await nobody.post(RESOLVE, { token: 'x' })).toMatchObject({ status: 401 });
  });
});
