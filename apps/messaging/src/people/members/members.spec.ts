import { newId } from '@customer-platform/database';
import { behindLock, Caller, eventually, expectProblem, InternalPeer } from '@customer-platform/testing';
import { locksOf } from '../../vocabulary/addresses/address-keys.js';
import {
  ALL_PERMISSIONS,
  aSend,
  messagingWorld,
  send,
  settled,
  type MessagingWorld,
} from '../../messaging.fixture.js';

const PREFERENCES = '/v1/messaging/members/me/preferences';
const NOTIFICATIONS = '/v1/messaging/members/me/notifications';
const SETTINGS = '/v1/messaging/channel-settings';

interface Preferences {
  channels: Record<string, { marketing: boolean; topics: Record<string, boolean> }>;
  notifications_read_until: string | null;
}
interface Inbox {
  data: {
    id: string;
    title: string;
    body: string;
    url: string | null;
    topic: string | null;
    read: boolean;
    created_at: string;
  }[];
  page: { next_cursor: string | null };
  unread_count: number;
}
interface Member {
  readonly organizationId: string;
  readonly contactId: string;
  readonly email: string;
  /** Who may do everything in the organization. */
  readonly admin: Caller;
  readonly me: Caller;
  readonly token: string;
}

/** What core would say of these tokens. */
const tokens = new Map<string, object>();
let core: InternalPeer;
let world: MessagingWorld;
beforeAll(async () => {
  core = await InternalPeer.start({
    'POST /internal/members/resolve': (body) =>
      tokens.get((body as { token: string }).token) ?? { refused: 'invalid_token' },
    'POST /internal/contacts/lookup': () => ({ data: [] }),
  });
  world = await messagingWorld({ env: { CORE_INTERNAL_URL: core.url } });
  world.probe.collect('messaging');
});
afterAll(async () => {
  await world.close();
  await core.close();
});

async function aMember(): Promise<Member> {
  const { id: organizationId, api: admin } = world.organization();
  const contactId = newId();
  const email = `${contactId}@example.com`;
  const token = newId();
  const organization = { id: organizationId, status: 'active', settings: {} };
  const principal = { type: 'member', id: contactId };
  tokens.set(token, { organizationId, organization, principal, restriction: null });
  await world.database.query(
    `INSERT INTO contacts (organization_id, id, version, state, email, email_canonical) VALUES ($1, $2, 1, 'active', $3, $3)`,
    [organizationId, contactId, email],
  );
  const { hostname: host, port } = new URL(world.mail.url);
  const answer = await admin.call('PUT', SETTINGS, {
    body: {
      channels: {
        email: {
          enabled: true,
          provider: 'smtp',
          from: 'hola@example.com',
          host,
          port: Number(port),
          security: 'none',
        },
        in_app: { enabled: true },
      },
      topics: [
        { key: 'news', name: 'News', channels: ['email', 'in_app'], default: true },
        { key: 'offers', name: 'Offers', channels: ['email'], default: false },
      ],
    },
  });
  expect(answer.status).toBe(200);
  return { organizationId, contactId, email, admin, me: world.app.with(token), token };
}

describe('a notification', () => {
  it('shows what the database can keep of what its template makes', async () => {
    const member = await aMember();
    const content = { title: "He{{ '%00' | url_decode }}llo", body: "a{{ 'b%00' | url_decode }}c" };
    const recipient = { contact_id: member.contactId };
    const id = await send(member.admin, aSend({ channel: 'in_app', recipient, content }));
    await settled(member.admin, id, 'sent');
    const { body } = await member.me.get<{ data: unknown[] }>(NOTIFICATIONS);
    expect(body.data).toMatchObject([{ title: 'He llo', body: 'ab\uFFFDc' }]);
  });
});

async function stateOf(
  { admin, contactId }: Member,
  overrides: Record<string, unknown> = {},
): Promise<string> {
  const body = aSend({ recipient: { contact_id: contactId }, category: 'marketing', ...overrides });
  return (await settled(admin, await send(admin, body), 'sent', 'opted_out', 'failed')).state;
}

async function notify(
  { admin, contactId }: Member,
  title: string,
  overrides: Record<string, unknown> = {},
): Promise<string> {
  const content = { title, body: `About ${title}`, url: 'https://shop.example/x' };
  const id = await send(
    admin,
    aSend({ channel: 'in_app', recipient: { contact_id: contactId }, content, ...overrides }),
  );
  await settled(admin, id, 'sent');
  return id;
}

describe.each([
  ['GET', PREFERENCES],
  ['PATCH', PREFERENCES],
  ['GET', NOTIFICATIONS],
])('%s %s', (method, path) => {
  const call = (caller: Caller) => caller.call(method, path, method === 'PATCH' ? { body: {} } : {});

  it('401 without a token, with one that core does not know, and with a key', async () => {
    expect(await call(world.app.with())).toMatchObject({
      status: 401,
      body: { code: 'missing_credentials' },
    });
    expect(await call(world.app.with('nonsense'))).toMatchObject({
      status: 401,
      body: { code: 'invalid_token' },
    });
    const key = world.app.as(newId(), ALL_PERMISSIONS);
    expect(await call(key)).toMatchObject({ status: 401, body: { code: 'invalid_token' } });
    tokens.set('expired', { refused: 'token_expired' });
    const expired = await call(world.app.with('expired'));
    expect(expired).toMatchObject({ status: 401, body: { code: 'token_expired' } });
    expect(expired.headers.has('www-authenticate')).toBe(true);
  });

  it('403 while the organization is suspended', async () => {
    const organizationId = newId();
    tokens.set('suspended', {
      organizationId,
      organization: { id: organizationId, status: 'suspended', settings: {} },
      principal: { type: 'member', id: newId() },
      restriction: 'organization_suspended',
    });
    expect(await call(world.app.with('suspended'))).toMatchObject({
      status: 403,
      body: { code: 'organization_suspended' },
    });
  });

  it('503 when core is silent', async () => {
    const { token } = await aMember();
    // The registry is there: nothing is to be asked again.
    const me = new Caller(world.app.url, token);
    core.outage(true);
    try {
      expect(await call(me)).toMatchObject({ status: 503, body: { code: 'authorization_unavailable' } });
    } finally {
      core.outage(false);
    }
  });
});

describe('a member’s preferences', () => {
  it('begin with what the settings say', async () => {
    const { me } = await aMember();
    const { status, body } = await me.get<Preferences>(PREFERENCES);
    expect(status).toBe(200);
    expect(body.notifications_read_until).toBeNull();
    expect(body.channels['email']).toEqual({ marketing: true, topics: { news: true, offers: false } });
    expect(body.channels['in_app']).toEqual({ marketing: true, topics: { news: true } });
    expect(body.channels['sms']).toEqual({ marketing: true, topics: {} });
  });

  it('decide what is sent from the answer on, and are told once', async () => {
    const member = await aMember();
    const { me, organizationId, contactId } = member;
    expect(await stateOf(member, { topic: 'offers' })).toBe('opted_out');
    const channels = { email: { topics: { news: false, offers: true } } };
    for (let times = 0; times < 2; times += 1) {
      const { body } = await me.patch<Preferences>(PREFERENCES, { channels });
      expect(body.channels['email']).toEqual({ marketing: true, topics: { news: false, offers: true } });
    }
    expect(await stateOf(member, { topic: 'news' })).toBe('opted_out');
    expect(await stateOf(member, { topic: 'offers' })).toBe('sent');
    expect(await stateOf(member)).toBe('sent');
    await me.patch(PREFERENCES, { channels: { email: { marketing: false } } });
    expect(await stateOf(member)).toBe('opted_out');
    expect(await stateOf(member, { topic: 'offers' })).toBe('opted_out');
    expect(await stateOf(member, { category: 'transactional' })).toBe('sent');
    const events = await world.probe.expectEvents('messaging.preference.changed.v1', organizationId, 3);
    expect(events.map(({ data }) => data)).toEqual([
      { contact_id: contactId, channel: 'email', topic: 'news', subscribed: false },
      { contact_id: contactId, channel: 'email', topic: 'offers', subscribed: true },
      { contact_id: contactId, channel: 'email', topic: null, subscribed: false },
    ]);
    const audited = await world.database.query(
      `SELECT actor_type, changed_fields FROM audit_entries
        WHERE organization_id = $1 AND action = 'messaging.preferences.update' ORDER BY occurred_at, id`,
      [organizationId],
    );
    expect(audited).toEqual([
      {
        actor_type: 'member',
        changed_fields: ['channels.email.topics.news', 'channels.email.topics.offers'],
      },
      { actor_type: 'member', changed_fields: ['channels.email.marketing'] },
    ]);
  });

  it('show what a link has ended, and begin it again', async () => {
    const member = await aMember();
    const { me, email, organizationId } = member;
    expect(await stateOf(member)).toBe('sent');
    const [mail] = await world.mail.parsed(email);
    const link = new URL(
      mail?.headers.find(({ key }) => key === 'list-unsubscribe')?.value.slice(1, -1) ?? '',
    );
    await fetch(`${world.app.url}${link.pathname}${link.search}`, { method: 'POST' });
    const ended = await me.get<Preferences>(PREFERENCES);
    expect(ended.body.channels['email']?.marketing).toBe(false);
    const again = await me.patch<Preferences>(PREFERENCES, { channels: { email: { marketing: true } } });
    expect(again.body.channels['email']?.marketing).toBe(true);
    expect(await stateOf(member)).toBe('sent');
    const rows = await world.database.query('SELECT subscribed FROM preferences WHERE organization_id = $1', [
      organizationId,
    ]);
    expect(rows).toEqual([{ subscribed: true }]);
  });

  it('take a choice back by null', async () => {
    const { me } = await aMember();
    const patch = (value: boolean | null) =>
      me.patch<Preferences>(PREFERENCES, { channels: { email: { topics: { offers: value } } } });
    expect((await patch(true)).body.channels['email']?.topics['offers']).toBe(true);
    expect((await patch(null)).body.channels['email']?.topics['offers']).toBe(false);
  });

  it.each([
    [{ channels: { email: { topics: { sports: true } } } }, '/channels/email/topics/sports', 'unknown_field'],
    [
      { channels: { in_app: { topics: { offers: true } } } },
      '/channels/in_app/topics/offers',
      'unknown_field',
    ],
    [{ channels: { fax: { marketing: true } } }, '/channels/fax', 'unknown_field'],
    [{ channels: { email: { topics: { '': false } } } }, '/channels/email/topics/', 'invalid_format'],
    [{ channels: { email: { marketing: 'no' } } }, '/channels/email/marketing', 'wrong_type'],
    [{ chanels: {} }, '/chanels', 'unknown_field'],
    [{ notifications_read_until: '2026-11-21T12:00:00' }, '/notifications_read_until', 'invalid_format'],
  ])('refuse %j and keep all as it was', async (wrong, pointer, code) => {
    const { me } = await aMember();
    const before = await me.get<Preferences>(PREFERENCES);
    const { channels, ...rest } = wrong as { channels?: { email?: object } };
    const both = { ...rest, ...(channels ? { channels: { ...channels, sms: { marketing: false } } } : {}) };
    const answer = await me.patch<{ errors: unknown[] }>(PREFERENCES, both);
    expect(answer.status).toBe(400);
    expect(answer.body.errors).toEqual([expect.objectContaining({ pointer, code })]);
    expect((await me.get<Preferences>(PREFERENCES)).body).toEqual(before.body);
  });

  it('503 of a contact that is merged meanwhile: what was said of it then would be nobody’s', async () => {
    const { me, organizationId, contactId } = await aMember();
    const answer = await behindLock(
      world.database,
      { sql: 'SELECT pg_advisory_xact_lock($1)', values: locksOf([`contact:${contactId}`]) },
      () => me.patch(PREFERENCES, { channels: { email: { marketing: false } } }),
      (holder) =>
        holder.query(
          `UPDATE contacts SET version = 2, state = 'merged', merged_into = $3 WHERE organization_id = $1 AND id = $2`,
          [organizationId, contactId, newId()],
        ),
    );
    expectProblem(answer, 503, 'dependency_unavailable');
    const rows = await world.database.query('SELECT FROM preferences WHERE organization_id = $1', [
      organizationId,
    ]);
    expect(rows).toEqual([]);
  });

  it('are carried over by a merge', async () => {
    const one = await aMember();
    await one.me.patch(PREFERENCES, { channels: { email: { marketing: false } } });
    const survivor = newId();
    await world.database.query(
      `INSERT INTO contacts (organization_id, id, version, state) VALUES ($1, $2, 1, 'active')`,
      [one.organizationId, survivor],
    );
    await world.probe.publish({
      type: 'core.contact.merged.v1',
      organizationId: one.organizationId,
      data: {
        merge_id: newId(),
        survivor_id: survivor,
        merged_id: one.contactId,
        survivor_version: 2,
        merged_version: 2,
      },
    });
    await eventually(async () => {
      const rows = await world.database.query('SELECT subscribed FROM preferences WHERE subject = $1', [
        `contact:${survivor}`,
      ]);
      expect(rows).toEqual([{ subscribed: false }]);
    });
  });
});

describe('a member’s inbox', () => {
  it('shows what came to this member alone, newest first, read up to where it was read', async () => {
    const member = await aMember();
    const { me } = member;
    const stranger = await aMember();
    await notify(stranger, 'Not yours');
    const first = await notify(member, 'First', { topic: 'news', category: 'marketing' });
    const inbox = () => me.get<Inbox>(NOTIFICATIONS);
    const [shown] = (await inbox()).body.data;
    expect(shown).toEqual({
      id: first,
      title: 'First',
      body: 'About First',
      url: 'https://shop.example/x',
      topic: 'news',
      read: false,
      created_at: expect.stringMatching(/Z$/) as string,
    });
    await me.patch(PREFERENCES, { notifications_read_until: shown?.created_at });
    const second = await notify(member, 'Second');
    const { body } = await inbox();
    expect(body.data.map(({ id, read }) => [id, read])).toEqual([
      [second, false],
      [first, true],
    ]);
    expect(body.unread_count).toBe(1);
    const unread = await me.get<Inbox>(`${NOTIFICATIONS}?read=false`);
    expect(unread.body).toMatchObject({ data: [{ id: second }], unread_count: 1 });
    const read = await me.get<Inbox>(`${NOTIFICATIONS}?read=true`);
    expect(read.body).toMatchObject({ data: [{ id: first }], unread_count: 1 });
  });

  it('is read only forward, and not beyond now', async () => {
    const { me } = await aMember();
    const patch = async (until: string) =>
      (await me.patch<Preferences>(PREFERENCES, { notifications_read_until: until })).body
        .notifications_read_until;
    expect(await patch('2026-01-02T00:00:00Z')).toBe('2026-01-02T00:00:00.000Z');
    expect(await patch('2026-01-01T00:00:00Z')).toBe('2026-01-02T00:00:00.000Z');
    expect(Date.parse((await patch('2999-01-01T00:00:00Z')) ?? '')).toBeLessThanOrEqual(Date.now());
  });

  it('is walked in pages, and ends after 90 days', async () => {
    const { me, organizationId, contactId } = await aMember();
    await world.database.query(
      `INSERT INTO notifications (organization_id, id, contact_id, title, body, created_at)
       SELECT $1, gen_random_uuid(), $2, 'n ' || n, 'b', now() - n * interval '15 days' FROM generate_series(0, 8) AS n`,
      [organizationId, contactId],
    );
    const titles: string[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const page: { body: Inbox } = await me.get<Inbox>(
        `${NOTIFICATIONS}?limit=2${cursor && `&cursor=${cursor}`}`,
      );
      titles.push(...page.body.data.map(({ title }) => title));
      expect(page.body.unread_count).toBe(6);
      cursor = page.body.page.next_cursor;
    }
    expect(titles).toEqual(['n 0', 'n 1', 'n 2', 'n 3', 'n 4', 'n 5']);
    expect(await me.get(`${NOTIFICATIONS}?title=x`)).toMatchObject({
      status: 400,
      body: { code: 'unknown_parameter' },
    });
  });
});
