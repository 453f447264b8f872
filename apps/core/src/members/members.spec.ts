import { Clock, SigningKeys } from '@customer-platform/database';
import { PERMISSIONS } from '@customer-platform/permissions';
import { behindLock, eventually, type Caller } from '@customer-platform/testing';
import { startCore, START_MS, type TestCore } from '../core.fixture.js';
import { grantAhead } from '../people/consents/consent.fixture.js';
import { merge, undo } from '../people/merges/merge.fixture.js';
import { aMember, aMemberWorld, asMember, ME, type MemberWorld } from './member.fixture.js';
import { MemberTokens } from './member-tokens.js';

interface State {
  purpose: string;
  channel: string | null;
  status: string;
  event_id: string;
}
interface Listed {
  data: State[];
  code: string;
  errors?: { pointer: string; code: string }[];
}

const CONSENTS = `${ME}/consents`;

let core: TestCore;
let world: MemberWorld;
let member: Caller;

beforeAll(async () => {
  core = await startCore();
}, START_MS);
afterAll(() => core.close());
beforeEach(async () => {
  world = await aMemberWorld(core);
  member = await asMember(core, world);
});

describe('GET /v1/core/members/me', () => {
  it('shows the contact, the national id masked and no attribute', async () => {
    const { contactId, externalId } = await aMember(core, world.organizationId, {
      email: 'ana@example.com',
      national_id: { type: 'CL_RUT', value: '12.345.678-5' },
      attributes: { risk: 'high' },
    });
    const answer = await (await asMember(core, { ...world, externalId })).get<Record<string, unknown>>(ME);
    expect(answer).toMatchObject({
      status: 200,
      body: {
        id: contactId,
        external_id: externalId,
        email: 'ana@example.com',
        first_name: 'Ana',
        national_id: { type: 'CL_RUT', masked: '***5678-5' },
        attributes: {},
      },
    });
    expect(JSON.stringify(answer.body)).not.toContain('12345678');
  });

  it('shows the attributes that a definition makes visible, as soon as it does', async () => {
    const { externalId } = await aMember(core, world.organizationId, {
      email: 'bea@example.com',
      attributes: { plan: 'pro', risk: 'high' },
    });
    const admin = core.app.as(world.organizationId, ['core.attributes.create', 'core.attributes.update']);
    const path = '/v1/core/attribute-definitions';
    const body = { key: 'plan', type: 'string', member_visible: true };
    const made = await admin.post<{ id: string }>(path, body);
    expect(made.status).toBe(201);
    const me = await asMember(core, { ...world, externalId });
    expect((await me.get<{ attributes: unknown }>(ME)).body.attributes).toEqual({ plan: 'pro' });
    await admin.patch(`${path}/${made.body.id}`, { member_visible: false });
    expect((await me.get<{ attributes: unknown }>(ME)).body.attributes).toEqual({});
  });

  it('401 without a token, with an API key, and with a token that was altered', async () => {
    const code = async (token?: string) => {
      const { status, body, headers } = await core.app.with(token).get<{ code: string }>(ME);
      return [status, body.code, headers.has('www-authenticate')];
    };
    const all = core.app.registry.key({ organizationId: world.organizationId, permissions: PERMISSIONS });
    expect(await code()).toEqual([401, 'missing_credentials', true]);
    expect(await code(all)).toEqual([401, 'invalid_token', true]);
    expect(await code('nonsense')).toEqual([401, 'invalid_token', true]);
    const token = await core.app.app.get(MemberTokens).issue({
      organizationId: world.organizationId,
      contactId: world.contactId,
      voucher: { apiKeyId: world.keyId },
    });
    const [header = '', payload = '', signature = ''] = token.split('.');
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as object;
    const { contactId } = await aMember(core, world.organizationId);
    const another = Buffer.from(JSON.stringify({ ...claims, sub: contactId })).toString('base64url');
    expect(await code(`${header}.${another}.${signature}`)).toEqual([401, 'invalid_token', true]);
    expect(await code(token)).toEqual([200, undefined, false]);
  });

  it('401 token_expired after its 15 minutes', async () => {
    const issued = (ago: number) => {
      const before = { now: () => new Date(Date.now() - ago) } satisfies Clock;
      return new MemberTokens(core.app.app.get(SigningKeys), before).issue({
        organizationId: world.organizationId,
        contactId: world.contactId,
        voucher: { apiKeyId: world.keyId },
      });
    };
    expect((await core.app.with(await issued(890_000)).get(ME)).status).toBe(200);
    expect(await core.app.with(await issued(901_000)).get(ME)).toMatchObject({
      status: 401,
      body: { code: 'token_expired' },
    });
  });

  it('opens nothing but the Member API', async () => {
    for (const path of [
      '/v1/core/contacts',
      '/v1/core/audit-log',
      `/v1/core/contacts/${world.contactId}/consents`,
    ])
      expect(await member.get(path)).toMatchObject({ status: 401, body: { code: 'invalid_token' } });
  });
});

describe('the consents of a member', () => {
  const grant = { purpose: 'marketing', channel: 'email', status: 'granted', notice_version: '2026-03' };
  const say = (...consents: object[]) => member.patch<Listed>(CONSENTS, { consents });
  const history = async () => {
    const admin = core.app.as(world.organizationId, ['core.consents.read']);
    const path = `/v1/core/contacts/${world.contactId}/consents?view=history`;
    return (await admin.get<{ data: Record<string, unknown>[] }>(path)).body.data;
  };

  it('are recorded as said by the member, and answered as they hold then', async () => {
    const answer = await say(grant, { purpose: 'profiling', status: 'denied' });
    expect(answer.status).toBe(200);
    expect(answer.body.data).toMatchObject([
      { purpose: 'profiling', channel: null, status: 'denied' },
      { purpose: 'marketing', channel: 'email', status: 'granted', method: 'member' },
    ]);
    expect((await member.get<Listed>(CONSENTS)).body).toEqual(answer.body);
    expect((await history()).at(-1)).toMatchObject({
      ...grant,
      method: 'member',
      actor: { type: 'member', id: world.contactId },
      controller: world.organizationId,
    });
  });

  it('are not recorded again where nothing changes, but with another notice they are', async () => {
    await say(grant);
    for (let again = 0; again < 3; again += 1) expect((await say(grant)).status).toBe(200);
    expect(await history()).toHaveLength(1);
    await say({ ...grant, notice_version: '2026-04' });
    await say({ ...grant, status: 'withdrawn' });
    expect((await history()).map(({ status }) => status)).toEqual(['withdrawn', 'granted', 'granted']);
  });

  it('record a refusal again: an earlier grant that comes late does not lift it', async () => {
    const staff = core.app.as(world.organizationId, ['core.consents.write']);
    const late = (status: string, daysAgo: number) =>
      staff.post(`/v1/core/contacts/${world.contactId}/consents`, {
        ...{ ...grant, method: 'form', status },
        occurred_at: new Date(Date.now() - daysAgo * 86_400_000).toISOString(),
      });
    expect((await late('withdrawn', 9)).status).toBe(201);
    expect((await say({ ...grant, status: 'withdrawn' })).status).toBe(200);
    expect((await late('granted', 2)).status).toBe(201);
    const { body } = await member.get<Listed>(CONSENTS);
    expect(body.data.map(({ status }) => status)).toEqual(['withdrawn']);
  });

  it('count in the order of the list: nothing at all, but mail', async () => {
    await say(grant);
    const answer = await say({ purpose: 'marketing', status: 'withdrawn' }, grant);
    const held = answer.body.data.map(({ channel, status }) => [channel, status]);
    expect(new Map(held as [string | null, string][])).toEqual(
      new Map([
        [null, 'withdrawn'],
        ['email', 'granted'],
      ]),
    );
  });

  it('count in the order of the list, a grant of all that held before too: mail was refused just before it', async () => {
    const all = { purpose: 'marketing', status: 'granted', notice_version: grant.notice_version };
    await say(all);
    const answer = await say({ ...grant, status: 'denied' }, all);
    expect(answer.body.data.map(({ status }) => status)).toEqual(['granted', 'granted']);
  });

  it.each<[string, object[], string, string]>([
    [
      'a grant without notice',
      [{ ...grant, notice_version: null }],
      'required',
      '/consents/0/notice_version',
    ],
    ['a second word on the same', [grant, { ...grant, status: 'denied' }], 'duplicate_item', '/consents/1'],
    ['an unknown purpose', [grant, { ...grant, purpose: 'spam' }], 'invalid_enum', '/consents/1/purpose'],
    ['an unknown channel', [{ ...grant, channel: 'fax' }], 'invalid_enum', '/consents/0/channel'],
    ['what cannot be said', [{ ...grant, status: 'expired' }], 'invalid_enum', '/consents/0/status'],
    ['what members do not set', [{ ...grant, method: 'phone' }], 'unknown_field', '/consents/0/method'],
    ['nothing', [], 'too_short', '/consents'],
  ])('400 for %s, and nothing of the list is recorded', async (_, consents, code, pointer) => {
    const answer = await say({ purpose: 'research', status: 'denied' }, ...consents);
    const wrong = consents.length === 0 ? await say() : answer;
    const shifted = consents.length === 0 ? pointer : pointer.replace(/\d/, (at) => String(Number(at) + 1));
    expect(wrong).toMatchObject({
      status: 400,
      body: { code: 'validation_failed', errors: [{ code, pointer: shifted }] },
    });
    if (consents.length > 0) expect(await history()).toEqual([]);
  });

  it('are withdrawn in a call of many, though a process whose clock goes ahead has granted just now', async () => {
    const ahead = await grantAhead(core, world);
    const others = ['research', 'analytics', 'loyalty'].map((purpose) => ({ purpose, status: 'denied' }));
    await say({ purpose: 'marketing', status: 'withdrawn' }, ...others);
    await eventually(() => expect(Date.now()).toBeGreaterThan(ahead.getTime() + others.length + 1));
    const { body } = await member.get<Listed>(CONSENTS);
    expect(body.data.map(({ purpose, status }) => [purpose, status])).toEqual(
      expect.arrayContaining([
        ['marketing', 'withdrawn'],
        ...others.map(({ purpose }) => [purpose, 'denied']),
      ]),
    );
  });

  it('take only the list parameters there are', async () => {
    await say(grant, { purpose: 'profiling', status: 'denied' });
    expect((await member.get<Listed>(`${CONSENTS}?purpose=profiling`)).body.data).toHaveLength(1);
    for (const [query, code] of [
      ['view=history', 'unknown_parameter'],
      ['sort=purpose', 'invalid_sort'],
      ['limit=0', 'invalid_limit'],
    ])
      expect(await member.get(`${CONSENTS}?${query}`)).toMatchObject({ status: 400, body: { code } });
  });

  it('are each member’s own', async () => {
    await say(grant);
    const other = await asMember(core, { ...world, ...(await aMember(core, world.organizationId)) });
    expect((await other.get<Listed>(CONSENTS)).body.data).toEqual([]);
    expect((await core.app.with().get(CONSENTS)).status).toBe(401);
  });
});

describe('a member token ends', () => {
  const code = async () => {
    const { status, body } = await member.get<{ code?: string }>(ME);
    return status === 200 ? 'holds' : body.code;
  };
  const set = (column: string) =>
    core.database.query(`UPDATE contacts SET ${column} = now() WHERE id = $1`, [world.contactId]);

  it('when its key is revoked', async () => {
    expect(await code()).toBe('holds');
    core.app.registry.revoke(world.key);
    await eventually(async () => expect(await code()).toBe('invalid_token'));
  });

  it('when its key may no longer exchange tokens', async () => {
    core.app.registry.permit(world.key, ['core.events.write']);
    await eventually(async () => expect(await code()).toBe('invalid_token'));
  });

  it('at once when its contact is deleted or erased', async () => {
    await set('deleted_at');
    expect(await code()).toBe('invalid_token');
    expect(
      await member.patch(CONSENTS, { consents: [{ purpose: 'research', status: 'denied' }] }),
    ).toMatchObject({
      status: 401,
      body: { code: 'invalid_token' },
    });
    world = await aMemberWorld(core);
    member = await asMember(core, world);
    await set('erased_at');
    expect(await code()).toBe('invalid_token');
  });

  it('for good: a contact that comes back takes new tokens only', async () => {
    const before = { now: () => new Date(Date.now() - 10_000) } satisfies Clock;
    const claims = {
      organizationId: world.organizationId,
      contactId: world.contactId,
      voucher: { apiKeyId: world.keyId },
    };
    const former = await new MemberTokens(core.app.app.get(SigningKeys), before).issue(claims);
    member = core.app.with(former);
    expect(await code()).toBe('holds');
    const admin = core.app.as(world.organizationId, ['core.contacts.delete']);
    const path = `/v1/core/contacts/${world.contactId}`;
    expect((await admin.delete(path)).status).toBe(204);
    expect((await admin.post(`${path}/restore`)).status).toBe(200);
    expect(await code()).toBe('invalid_token');
    member = await asMember(core, world);
    expect(await code()).toBe('holds');
  });

  it('not when its contact is merged: it moves', async () => {
    const survivor = await aMember(core, world.organizationId, { first_name: 'Eva' });
    await member.patch(CONSENTS, { consents: [{ purpose: 'research', status: 'denied' }] });
    await core.database.query('UPDATE contacts SET merged_into = $2 WHERE id = $1', [
      world.contactId,
      survivor.contactId,
    ]);
    expect((await member.get(ME)).body).toMatchObject({ id: survivor.contactId, first_name: 'Eva' });
    expect((await member.get<Listed>(CONSENTS)).body.data).toMatchObject([{ purpose: 'research' }]);
    await member.patch(CONSENTS, { consents: [{ purpose: 'loyalty', status: 'denied' }] });
    const rows = await core.database.query<{ contact_id: string }>(
      `SELECT contact_id FROM consent_events WHERE organization_id = $1 AND purpose = 'loyalty'`,
      [world.organizationId],
    );
    expect(rows).toEqual([{ contact_id: survivor.contactId }]);
  });

  it('nor when it parts from another at that moment: it speaks for itself', async () => {
    const other = await aMember(core, world.organizationId);
    const admin = core.app.as(world.organizationId, ['core.contacts.merge']);
    const done = await merge(admin, { id: other.contactId }, { id: world.contactId });
    const waiting = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    let said: Promise<{ status: number }> | undefined;
    await behindLock(
      core.database,
      { sql: 'SELECT FROM contacts WHERE id = $1 FOR UPDATE', values: [other.contactId] },
      () => undo(admin, done),
      async () => {
        said = member.patch(CONSENTS, { consents: [{ purpose: 'loyalty', status: 'denied' }] });
        await eventually(async () => expect(await core.database.query(waiting)).toHaveLength(2));
      },
    );
    expect((await said)?.status).toBe(200);
    const rows = await core.database.query<{ contact_id: string }>(
      `SELECT contact_id FROM consent_events WHERE organization_id = $1`,
      [world.organizationId],
    );
    expect(rows).toEqual([{ contact_id: world.contactId }]);
  });

  it('503 while it cannot be asked who vouches for it', async () => {
    expect(await code()).toBe('holds');
    core.app.registry.outage(true);
    await eventually(async () => expect(await code()).toBe('authorization_unavailable'));
    core.app.registry.outage(false);
    await eventually(async () => expect(await code()).toBe('holds'));
  });

  it('with its organization: 401 for a contact that another has', async () => {
    const token = await core.app.app.get(MemberTokens).issue({
      organizationId: (await aMemberWorld(core)).organizationId,
      contactId: world.contactId,
      voucher: { apiKeyId: world.keyId },
    });
    expect((await core.app.with(token).get(ME)).status).toBe(401);
  });
});
