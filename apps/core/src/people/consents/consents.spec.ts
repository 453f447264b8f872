import { newId } from '@customer-platform/database';
import type { EventData } from '@customer-platform/events';
import { PERMISSIONS } from '@customer-platform/permissions';
import { eventually, kafkaProbe, type KafkaProbe } from '@customer-platform/testing';
import { startCore, START_MS, type TestCore } from '../../core.fixture.js';
import { aConsentWorld, aContactRow, aGrant, type ConsentWorld } from './consent.fixture.js';

interface Item extends Record<string, unknown> {
  id: string;
  purpose: string;
  channel: string | null;
  status: string;
  occurred_at: string;
}

interface Listed {
  data: Item[];
  page: { limit: number; next_cursor: string | null };
}

interface Refusal extends Record<string, unknown> {
  code: string;
  errors?: { pointer?: string; code: string }[];
}

const MAX_UUID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';
const NIL_UUID = '00000000-0000-0000-0000-000000000000';
const day = (at: number): string => new Date(Date.UTC(2026, 0, at, 12)).toISOString();

let core: TestCore;
let probe: KafkaProbe;
let world: ConsentWorld;

beforeAll(async () => {
  core = await startCore();
  probe = kafkaProbe(core.app);
  probe.collect('core');
}, START_MS);
afterAll(() => core.close());
beforeEach(async () => {
  world = await aConsentWorld(core);
});

const say = async (overrides: Record<string, unknown> = {}): Promise<Item> => {
  const answer = await world.caller.post<Item>(world.path, aGrant(overrides));
  expect(answer).toMatchObject({ status: 201 });
  return answer.body;
};
const get = async (query = ''): Promise<Item[]> =>
  (await world.caller.get<Listed>(`${world.path}?${query}`)).body.data;
const stateOf = async (channel: string | null, query = ''): Promise<string | undefined> =>
  (await get(query)).find((state) => state.channel === channel)?.status;

describe('POST /v1/core/contacts/{id}/consents', () => {
  it('records what was said with its proof, audited, and answers it', async () => {
    const given = {
      legal_basis: 'consent',
      notice_hash: 'sha256:00ff',
      jurisdiction: 'CL',
      evidence: { form: 'alta', fields: ['a', 'b'] },
      pii_categories: ['contact', 'behaviour'],
      recipients: ['ACME SpA'],
      storage_locations: ['CL'],
      retention: 'P2Y',
      withdrawal_method: 'preference_center',
      occurred_at: '2026-01-15T09:00:00-03:00',
      expires_at: '2036-01-15T12:00:00Z',
    };
    const body = await say(given);
    expect(body).toMatchObject({
      ...aGrant(given),
      occurred_at: '2026-01-15T12:00:00.000Z',
      expires_at: '2036-01-15T12:00:00.000Z',
      contact_id: world.contactId,
      controller: world.organizationId,
      actor: { type: 'api_key', id: expect.any(String) as string, impersonator_id: null },
      recorded_at: body['created_at'],
    });
    expect(await get('view=history')).toEqual([body]);
    const audit = await core.database.query(
      'SELECT action, resource_type, resource_id, changed_fields, correlation_id FROM audit_entries WHERE organization_id = $1',
      [world.organizationId],
    );
    expect(audit).toEqual([
      {
        action: 'core.consents.write',
        resource_type: 'consents',
        resource_id: body.id,
        changed_fields: ['purpose', 'channel', 'status'],
        correlation_id: body['correlation_id'],
      },
    ]);
  });

  it('takes a denial and a withdrawal with nothing but what they are', async () => {
    const answer = await world.caller.post<Item>(world.path, {
      purpose: 'custom.vip-club',
      status: 'denied',
    });
    expect(answer).toMatchObject({
      status: 201,
      body: { channel: null, legal_basis: 'consent', evidence: null, recipients: [], expires_at: null },
    });
  });

  it.each<[string, Record<string, unknown>, string, string]>([
    ['no notice to grant', { notice_version: undefined }, 'required', '/notice_version'],
    ['no method to grant', { method: null }, 'required', '/method'],
    ['an unknown purpose', { purpose: 'spam' }, 'invalid_enum', '/purpose'],
    ['a purpose without a slug', { purpose: 'custom.' }, 'invalid_enum', '/purpose'],
    ['no purpose', { purpose: undefined }, 'required', '/purpose'],
    ['an unknown channel', { channel: 'fax' }, 'invalid_enum', '/channel'],
    ['what cannot be said', { status: 'expired' }, 'invalid_enum', '/status'],
    ['a time without an offset', { occurred_at: '2026-01-15T12:00:00' }, 'invalid_format', '/occurred_at'],
    [
      'an end before the beginning',
      { occurred_at: day(10), expires_at: day(10) },
      'out_of_range',
      '/expires_at',
    ],
    ['an end of a withdrawal', { status: 'withdrawn', expires_at: day(10) }, 'not_allowed', '/expires_at'],
    ['too much evidence', { evidence: { text: 'x'.repeat(8_192) } }, 'too_long', '/evidence'],
    ['evidence that is no object', { evidence: 'seen' }, 'wrong_type', '/evidence'],
    ['an unknown field', { chanel: 'email' }, 'unknown_field', '/chanel'],
    ['what the service sets', { controller: newId() }, 'unknown_field', '/controller'],
    ['recipients that are no list', { recipients: 'ACME' }, 'wrong_type', '/recipients'],
  ])('400 for %s', async (_, wrong, code, pointer) => {
    const answer = await world.caller.post<Refusal>(world.path, aGrant(wrong));
    expect(answer).toMatchObject({
      status: 400,
      body: { code: 'validation_failed', errors: [{ code, pointer }] },
    });
    expect(await get('view=history')).toEqual([]);
  });

  it('takes a minute ahead as now, and refuses what is further ahead', async () => {
    const soon = new Date(Date.now() + 50_000).toISOString();
    const taken = await say({ occurred_at: soon });
    expect(taken.occurred_at).toBe(taken['recorded_at']);
    const later = new Date(Date.now() + 70_000).toISOString();
    expect(await world.caller.post(world.path, aGrant({ occurred_at: later }))).toMatchObject({
      status: 400,
      body: { code: 'occurred_at_in_future', errors: [{ pointer: '/occurred_at' }] },
    });
  });

  it('records once under one Idempotency-Key', async () => {
    const key = { 'idempotency-key': newId() };
    const answers = await Promise.all(
      [1, 2, 3].map(() => world.caller.post<Item>(world.path, aGrant(), key)),
    );
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
    expect(await get('view=history')).toHaveLength(1);
    const other = await world.caller.post(world.path, aGrant({ status: 'denied' }), key);
    expect(other).toMatchObject({ status: 422, body: { code: 'idempotency_key_reused' } });
  });

  it('keeps all that is said at once', async () => {
    const said = await Promise.all(
      Array.from({ length: 20 }, (_, at) =>
        say({ status: at % 2 ? 'granted' : 'withdrawn', occurred_at: day(5) }),
      ),
    );
    const history = await get('view=history');
    expect(history.map(({ id }) => id).sort()).toEqual(said.map(({ id }) => id).sort());
    expect(await stateOf('email')).toBe('withdrawn');
    const told = await probe.expectEvents('core.consent.recorded.v1', world.organizationId, 20);
    // One after another: each found what the one before it left.
    expect(told.filter(({ data }) => data.previous === null)).toHaveLength(1);
    const first = told.findIndex(({ data }) => data.status === 'withdrawn');
    expect(told.slice(first).every(({ data }) => data.status === 'withdrawn')).toBe(true);
  });
});

describe('what holds', () => {
  it('is the latest, however late it is recorded', async () => {
    await say({ occurred_at: day(1) });
    await say({ status: 'withdrawn', occurred_at: day(3) });
    await say({ occurred_at: day(2) });
    expect(await stateOf('email')).toBe('withdrawn');
    await say({ occurred_at: day(4) });
    expect(await stateOf('email')).toBe('granted');
  });

  it.each([
    [['granted', 'denied'], 'denied'],
    [['denied', 'withdrawn', 'granted'], 'withdrawn'],
    [['withdrawn', 'denied'], 'withdrawn'],
  ])('is the strictest of %s at one instant: %s', async (statuses, status) => {
    for (const said of statuses) await say({ status: said, occurred_at: day(1) });
    expect(await stateOf('email')).toBe(status);
  });

  it('of a channel follows from its own and from what is about all channels', async () => {
    await say({ occurred_at: day(1) });
    await say({ channel: null, status: 'withdrawn', occurred_at: day(2) });
    await say({ channel: 'sms', occurred_at: day(3) });
    expect([await stateOf('email'), await stateOf('sms'), await stateOf(null)]).toEqual([
      'withdrawn',
      'granted',
      'withdrawn',
    ]);
    await say({ purpose: 'loyalty', channel: null, occurred_at: day(5) });
    expect(await get('purpose=marketing&status=granted')).toMatchObject([{ channel: 'sms' }]);
  });

  it('can be seen as it was', async () => {
    const grant = await say({ occurred_at: day(1), expires_at: day(20) });
    await say({ status: 'withdrawn', occurred_at: day(30) });
    expect(await get(`at=${day(0)}`)).toEqual([]);
    expect(await get(`at=${day(2)}`)).toMatchObject([{ status: 'granted', event_id: grant.id }]);
    expect(await stateOf('email', `at=${day(20)}`)).toBe('expired');
    expect(await stateOf('email', `at=${day(29)}`)).toBe('expired');
    expect(await stateOf('email', `at=${day(30)}`)).toBe('withdrawn');
    expect(await get(`view=history&at=${day(29)}`)).toMatchObject([{ id: grant.id }]);
  });
});

describe('what other modules are told', () => {
  const told = (): EventData<'core.consent.recorded.v1'>[] =>
    probe.events('core.consent.recorded.v1', world.organizationId).map(({ data }) => data);

  it('is what holds from now on, and what held', async () => {
    await say({ occurred_at: day(1) });
    await say({ status: 'withdrawn', occurred_at: day(3) });
    await say({ occurred_at: day(2) });
    await eventually(() => expect(told()).toHaveLength(3));
    const same = { contact_id: world.contactId, purpose: 'marketing', channel: 'email' };
    expect(told()).toEqual([
      { ...same, status: 'granted', previous: null },
      { ...same, status: 'withdrawn', previous: 'granted' },
      { ...same, status: 'withdrawn', previous: 'withdrawn' },
    ]);
    const times = probe.events('core.consent.recorded.v1', world.organizationId).map(({ time }) => time);
    expect(times).toEqual([day(1), day(3), day(3)]);
  });

  it('is that a grant has ended, when it ends and nothing else has decided meanwhile', async () => {
    const soon = new Date(Date.now() + 1_500).toISOString();
    const kept = await say({ occurred_at: day(1), expires_at: soon });
    await say({ channel: 'sms', occurred_at: day(1), expires_at: soon });
    await say({ channel: 'sms', status: 'denied', occurred_at: day(2) });
    expect(await stateOf('email')).toBe('granted');
    const [expired] = await probe.expectEvents('core.consent.expired.v1', world.organizationId, 1);
    expect(expired).toMatchObject({
      correlationid: kept['correlation_id'],
      time: day(1),
      data: {
        contact_id: world.contactId,
        purpose: 'marketing',
        channel: 'email',
        status: 'expired',
        previous: 'granted',
      },
    });
    expect(await stateOf('email')).toBe('expired');
    await eventually(async () => {
      const left = await core.database.query('SELECT 1 FROM consent_expirations WHERE organization_id = $1', [
        world.organizationId,
      ]);
      expect(left).toEqual([]);
    });
    expect(probe.events('core.consent.expired.v1', world.organizationId)).toHaveLength(1);
  });
});

describe('GET /v1/core/contacts/{id}/consents as a list', () => {
  it('walks states of one deciding event, and history, each once', async () => {
    for (const channel of ['email', 'sms', 'push', 'whatsapp', 'in_app'])
      for (const at of [1, 2]) await say({ channel, occurred_at: day(at) });
    await say({ channel: null, status: 'withdrawn', occurred_at: day(3) });
    for (const [view, count] of [
      ['states', 6],
      ['history', 11],
    ] as const) {
      const walked: string[] = [];
      let cursor = '';
      do {
        const { body } = await world.caller.get<Listed>(`${world.path}?view=${view}&limit=2${cursor}`);
        walked.push(...body.data.map((item) => `${item.id ?? ''} ${item.channel ?? ''} ${item.occurred_at}`));
        cursor = body.page.next_cursor === null ? '' : `&cursor=${body.page.next_cursor}`;
      } while (cursor);
      expect(new Set(walked).size).toBe(count);
      expect(walked).toHaveLength(count);
    }
  });

  it('goes on strictly before a pair of instant and id, as the timeline does', async () => {
    for (const at of [1, 1, 2, 2, 3]) await say({ occurred_at: day(at) });
    const all = await get('view=history');
    const key = ({ occurred_at, id }: Item): string => `${occurred_at} ${id}`;
    expect(all.map(key)).toEqual(all.map(key).sort().reverse());
    const ids = async (query: string) => (await get(`view=history&${query}`)).map(({ id }) => id);
    for (const [at, item] of all.entries()) {
      expect(await ids(`before_occurred_at=${item.occurred_at}&before_id=${item.id}`)).toEqual(
        all.slice(at + 1).map(({ id }) => id),
      );
    }
    expect(await ids(`before_occurred_at=${day(2)}&before_id=${NIL_UUID}`)).toHaveLength(2);
    expect(await ids(`before_occurred_at=${day(2)}&before_id=${MAX_UUID}`)).toHaveLength(4);
    expect(await ids(`correlation_id=${String(all[1]?.['correlation_id'])}`)).toEqual([all[1]?.id]);
    expect(await ids(`occurred_at[gte]=${day(2)}&occurred_at[lt]=${day(3)}`)).toHaveLength(2);
  });

  it.each([
    ['colour=red', 'unknown_parameter'],
    ['view=all', 'invalid_filter'],
    ['at=yesterday', 'invalid_filter'],
    ['channel=fax', 'invalid_filter'],
    ['sort=purpose', 'invalid_sort'],
    ['limit=0', 'invalid_limit'],
    ['cursor=x', 'invalid_cursor'],
  ])('400 for ?%s: %s', async (query, code) => {
    expect(await world.caller.get(`${world.path}?${query}`)).toMatchObject({ status: 400, body: { code } });
  });
});

describe('whose consents', () => {
  it('sends readers of a merged contact to its survivor, and refuses to record on it', async () => {
    await say({ occurred_at: day(1) });
    const survivor = await aContactRow(core, world.organizationId);
    const between = await aContactRow(core, world.organizationId, { merged_into: survivor });
    await core.database.query('UPDATE contacts SET merged_into = $3 WHERE organization_id = $1 AND id = $2', [
      world.organizationId,
      world.contactId,
      between,
    ]);
    const moved = await world.caller.get(`${world.path}?view=history&limit=7`);
    expect([moved.status, moved.headers.get('location'), moved.headers.get('cache-control')]).toEqual([
      307,
      `/v1/core/contacts/${survivor}/consents?view=history&limit=7`,
      'no-store',
    ]);
    const whole = await world.caller.get<Listed>(moved.headers.get('location') ?? '');
    expect(whole.body.data).toMatchObject([{ contact_id: world.contactId }]);
    expect(await world.caller.post(world.path, aGrant())).toMatchObject({
      status: 409,
      body: { code: 'contact_merged', survivor_id: survivor },
    });
  });

  it('reads those of a soft-deleted contact, and records none', async () => {
    const id = await aContactRow(core, world.organizationId, { deleted_at: day(1) });
    const path = `/v1/core/contacts/${id}/consents`;
    expect(await world.caller.get(path)).toMatchObject({ status: 200, body: { data: [] } });
    expect(await world.caller.post(path, aGrant())).toMatchObject({
      status: 409,
      body: { code: 'resource_deleted' },
    });
  });

  it('404 for an unknown, an erased and a foreign contact, all alike', async () => {
    const other = await aConsentWorld(core);
    const erased = await aContactRow(core, world.organizationId, { erased_at: day(1) });
    for (const id of [newId(), erased, other.contactId]) {
      const path = `/v1/core/contacts/${id}/consents`;
      const answers = [await world.caller.get(path), await world.caller.post(path, aGrant())];
      for (const answer of answers)
        expect(answer).toMatchObject({ status: 404, body: { code: 'not_found' } });
    }
    const invalid = await world.caller.post('/v1/core/contacts/x/consents', aGrant());
    expect(invalid).toMatchObject({ status: 400, body: { code: 'invalid_id' } });
    const before = await world.caller.post(`/v1/core/contacts/${newId()}/consents`, aGrant({ method: null }));
    expect(before).toMatchObject({ status: 400, body: { code: 'validation_failed' } });
  });

  it.each([
    ['core.consents.read', 'GET', 200],
    ['core.consents.write', 'POST', 201],
  ] as const)('needs exactly %s to %s', async (permission, method, status) => {
    const body = method === 'POST' ? { body: aGrant() } : {};
    const only = core.app.as(world.organizationId, [permission]);
    expect((await only.call(method, world.path, body)).status).toBe(status);
    const rest = PERMISSIONS.filter((name) => name !== permission);
    const without = core.app.as(world.organizationId, rest);
    expect(await without.call(method, world.path, body)).toMatchObject({
      status: 403,
      body: { code: 'permission_denied' },
    });
  });
});
