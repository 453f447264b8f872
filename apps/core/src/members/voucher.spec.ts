import { eventually, type Caller } from '@customer-platform/testing';
import { startCore, START_MS, type TestCore } from '../core.fixture.js';
import { aMemberWorld, aSigner, byJwt, EXCHANGE, ME, type Exchanged, type Signer } from './member.fixture.js';

let core: TestCore;
beforeAll(async () => {
  core = await startCore();
}, START_MS);
afterAll(() => core.close());

describe('a member token on the word of the organization’s own key', () => {
  let organizationId: string;
  let signer: Signer;
  let member: Caller;

  const settings = (...signers: Signer[]) => ({
    settings: { member_jwks: { keys: signers.map(({ jwk }) => jwk) } },
  });
  const code = async () => {
    const { status, body } = await member.get<{ code?: string }>(ME);
    return status === 200 ? 'holds' : body.code;
  };

  beforeEach(async () => {
    signer = await aSigner();
    const world = await aMemberWorld(core);
    organizationId = world.organizationId;
    core.app.registry.organization(organizationId, settings(signer));
    const { body } = await core.app.with().post<Exchanged>(EXCHANGE, byJwt(await signer.sign(world)));
    member = core.app.with(body.access_token);
    expect(await code()).toBe('holds');
  });

  it('goes on while other keys come and go', async () => {
    core.app.registry.organization(organizationId, settings(await aSigner(), signer));
    // What the registry tells later has come, so the keys have, too.
    const later = core.app.registry.key({ organizationId, permissions: ['core.events.read'] });
    const events = async () => (await core.app.with(later).get('/v1/core/events')).status;
    await eventually(async () => expect(await events()).toBe(200));
    core.app.registry.revoke(later);
    await eventually(async () => expect(await events()).toBe(401));
    expect(await code()).toBe('holds');
  });

  it('ends when the key is taken away', async () => {
    core.app.registry.organization(organizationId, settings(await aSigner()));
    await eventually(async () => expect(await code()).toBe('invalid_token'));
  });

  it('ends when another key gets its name', async () => {
    core.app.registry.organization(organizationId, settings(await aSigner('ES256', signer.kid)));
    await eventually(async () => expect(await code()).toBe('invalid_token'));
  });

  it('is refused while the organization is suspended', async () => {
    core.app.registry.organization(organizationId, { ...settings(signer), suspended: true });
    await eventually(async () => expect(await code()).toBe('organization_suspended'));
    core.app.registry.organization(organizationId, settings(signer));
    await eventually(async () => expect(await code()).toBe('holds'));
  });
});
