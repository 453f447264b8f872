import { randomUUID } from 'node:crypto';
import { Clock, newId } from '@customer-platform/database';
import { behindLock, eventually, startTestApp, type Caller, type TestApp } from '@customer-platform/testing';
import { locksOf } from '../../vocabulary/addresses/address-keys.js';
import {
  aSend,
  history,
  messagingWorld,
  send,
  settled,
  shown,
  type MessagingWorld,
} from '../../messaging.fixture.js';
import { MessagingModule } from '../../messaging.module.js';
import { contactSubject } from '../../vocabulary/contacts/contact.js';

const SETTINGS = '/v1/messaging/channel-settings';
const MADRID = 'Europe/Madrid';
const SANTIAGO = 'America/Santiago';
const TOKYO = 'Asia/Tokyo';

let world: MessagingWorld;
/** A second process on the same database: its dispatcher takes whatever the first one leaves it. */
let other: TestApp;
let now = new Date();
beforeAll(async () => {
  world = await messagingWorld({ consume: false });
  const env = { SMTP_URL: world.mail.url };
  other = await startTestApp({ module: 'messaging', root: MessagingModule, database: world.database, env });
  for (const { app } of [world.app, other]) app.get(Clock).now = () => now;
});
afterAll(async () => {
  await other.close();
  await world.close();
});

interface Shop {
  readonly api: Caller;
  /** A contact whose calendar is that of a time zone, or nobody's. */
  contact(timezone: string | null): Promise<{ id: string; email: string }>;
  marketing(contactId: string, overrides?: Record<string, unknown>): Promise<string>;
}

async function shop(settings: Record<string, unknown>): Promise<Shop> {
  const { id: organizationId, api } = world.organization();
  const { hostname: host, port } = new URL(world.mail.url);
  const email = { provider: 'smtp', from: 'hola@example.com', host, port: Number(port), security: 'none' };
  const channels = { email: { ...email, enabled: true, max_per_second: 1_000 } };
  const put = await api.call('PUT', SETTINGS, { body: { channels, ...settings } });
  expect(put).toMatchObject({ status: 200 });
  return {
    api,
    contact: async (timezone) => {
      const id = newId();
      const address = `${id}@example.com`;
      await world.database.query(
        `INSERT INTO contacts (organization_id, id, version, state, email, email_canonical, timezone)
         VALUES ($1, $2, 1, 'active', $3, $3, $4)`,
        [organizationId, id, address, timezone],
      );
      return { id, email: address };
    },
    marketing: (contactId, overrides = {}) =>
      send(api, aSend({ recipient: { contact_id: contactId }, category: 'marketing', ...overrides })),
  };
}

/** The dispatchers have looked at all that is due by now: what they were given after it has left. */
async function lookedAtBy(api: Caller): Promise<void> {
  await settled(api, await send(api, aSend()), 'sent');
}

describe('quiet hours', () => {
  it.each([
    ['Madrid skips their end', MADRID, null, '22:00', '02:30', '2027-03-28T00:30Z', '2027-03-28T01:00Z'],
    ['Madrid skips their start', MADRID, null, '02:15', '07:00', '2027-03-28T01:00Z', '2027-03-28T05:00Z'],
    ['Madrid has their end twice', MADRID, null, '22:00', '02:30', '2027-10-30T23:00Z', '2027-10-31T00:30Z'],
    ['it is the second time', MADRID, null, '22:00', '02:30', '2027-10-31T01:10Z', '2027-10-31T01:30Z'],
    ['Santiago skips midnight', MADRID, SANTIAGO, '22:00', '00:30', '2027-09-05T03:00Z', '2027-09-05T04:00Z'],
    [
      'Santiago has their end twice',
      MADRID,
      SANTIAGO,
      '22:00',
      '23:30',
      '2027-04-04T01:30Z',
      '2027-04-04T02:30Z',
    ],
    [
      'the night has an hour more',
      SANTIAGO,
      null,
      '22:00',
      '08:00',
      '2027-04-04T01:30Z',
      '2027-04-04T12:00Z',
    ],
    [
      'the contact lives elsewhere',
      SANTIAGO,
      TOKYO,
      '22:00',
      '08:00',
      '2027-01-10T15:00Z',
      '2027-01-10T23:00Z',
    ],
  ])('hold marketing alone, until they end: %s', async (_case, timezone, zone, start, end, at, release) => {
    now = new Date(at);
    const { api, contact, marketing } = await shop({ quiet_hours: { start, end, timezone } });
    const person = await contact(zone);
    const id = await marketing(person.id);
    const until = new Date(release);
    expect(await settled(api, id, 'held')).toMatchObject({
      reason: 'quiet_hours',
      release_at: until.toISOString(),
    });
    now = new Date(until.getTime() - 1_000);
    await lookedAtBy(api);
    expect(await shown(api, id)).toMatchObject({ state: 'held' });
    expect(world.mail.to(person.email)).toEqual([]);
    now = until;
    expect(await settled(api, id, 'sent')).toMatchObject({ attempts: 1, release_at: null });
    expect((await history(api, id)).map(({ state, reason }) => [state, reason])).toEqual([
      ['accepted', null],
      ['rendering', null],
      ['held', 'quiet_hours'],
      ['gated', null],
      ['dispatching', null],
      ['sent', null],
    ]);
  });

  it.each([
    ['the minute before a start that is skipped', '02:15', '07:00', '2027-03-28T00:59:59Z'],
    ['from an end that comes twice until it comes again', '22:00', '02:30', '2027-10-31T00:45Z'],
  ])('hold nothing %s', async (_case, start, end, at) => {
    now = new Date(at);
    const { api, contact, marketing } = await shop({ quiet_hours: { start, end, timezone: MADRID } });
    await settled(api, await marketing((await contact(null)).id), 'sent');
  });

  it('are followed by all checks again', async () => {
    now = new Date('2027-01-11T02:00Z');
    const { api, contact, marketing } = await shop({
      quiet_hours: { start: '22:00', end: '08:00', timezone: SANTIAGO },
    });
    const [one, two] = [await contact(null), await contact(null)];
    const ids = [await marketing(one.id), await marketing(two.id)];
    for (const id of ids) await settled(api, id, 'held');
    await api.post('/v1/messaging/suppressions', { channel: 'email', address: one.email });
    await world.database.query(`UPDATE contacts SET state = 'deleted' WHERE id = $1`, [two.id]);
    now = new Date('2027-01-11T11:00Z');
    expect(await settled(api, String(ids[0]), 'suppressed')).toMatchObject({ release_at: null });
    expect(await settled(api, String(ids[1]), 'failed')).toMatchObject({ reason: 'contact_deleted' });
    expect([...world.mail.to(one.email), ...world.mail.to(two.email)]).toEqual([]);
  });
});

describe('caps', () => {
  it('are exact when two processes dispatch a hundred sends of each contact at once', async () => {
    now = new Date('2027-02-03T12:00Z');
    const limits = [
      { channel: 'email', limit: 9, window: 'week' },
      { channel: 'email', limit: 7, window: 'day' },
    ];
    const { api, contact, marketing } = await shop({ caps: limits });
    const people = [await contact(SANTIAGO), await contact(TOKYO)];
    const due = new Date('2027-02-03T12:10Z');
    const accepted = people.flatMap(({ id }) =>
      Array.from({ length: 100 }, () => marketing(id, { not_before: due.toISOString() })),
    );
    await Promise.all(accepted);
    const outcome = (day: string) =>
      eventually(
        async () => {
          const rows = await world.database.query<{ contact_id: string; state: string; count: number }>(
            `SELECT contact_id, state, count(*)::int AS count FROM sends
              WHERE contact_id = ANY($1) AND created_at::date = $2 GROUP BY 1, 2`,
            [people.map(({ id }) => id), day],
          );
          const states = (id: string) =>
            Object.fromEntries(
              rows.filter((row) => row.contact_id === id).map(({ state, count }) => [state, count]),
            );
          const found = people.map(({ id }) => states(id));
          for (const each of found)
            expect(Object.keys(each).every((state) => ['sent', 'capped'].includes(state))).toBe(true);
          return found;
        },
        { within: 60_000 },
      );
    now = due;
    expect(await outcome('2027-02-03')).toEqual(Array(2).fill({ sent: 7, capped: 93 }));
    for (const { email } of people) expect(world.mail.to(email)).toHaveLength(7);
    // The next day two are left of the week.
    now = new Date('2027-02-04T12:10Z');
    await Promise.all(people.flatMap(({ id }) => Array.from({ length: 20 }, () => marketing(id))));
    expect(await outcome('2027-02-04')).toEqual(Array(2).fill({ sent: 2, capped: 18 }));
    await lookedAtBy(api);
  }, 120_000);

  it.each([
    ['day', SANTIAGO, '2027-01-13T03:15Z', '2027-01-14T02:45Z', '2027-01-14T03:00Z'],
    ['day', TOKYO, '2027-01-12T15:00Z', '2027-01-13T14:59Z', '2027-01-13T15:00Z'],
    // 25 hours long in Madrid, and 23.
    ['day', MADRID, '2027-10-30T22:00Z', '2027-10-31T22:59Z', '2027-10-31T23:00Z'],
    ['day', MADRID, '2027-03-27T23:00Z', '2027-03-28T21:59Z', '2027-03-28T22:00Z'],
    ['week', SANTIAGO, '2027-01-11T03:00Z', '2027-01-18T02:59Z', '2027-01-18T03:00Z'],
    ['week', TOKYO, '2027-01-10T15:00Z', '2027-01-17T14:59Z', '2027-01-17T15:00Z'],
  ])('last for a %s of the contact’s calendar, in %s', async (window, zone, first, last, after) => {
    const { api, contact, marketing } = await shop({
      caps: [{ channel: 'email', limit: 1, window }],
      // Where the organization's own day begins is of no account.
      quiet_hours: { start: '12:00', end: '12:00', timezone: 'Pacific/Auckland' },
    });
    const { id } = await contact(zone);
    const states: string[] = [];
    for (const at of [first, last, after]) {
      now = new Date(at);
      states.push((await settled(api, await marketing(id), 'sent', 'capped')).state);
    }
    expect(states).toEqual(['sent', 'capped', 'sent']);
  });

  it('are those of the day on which a writer that was waited for has let go', async () => {
    now = new Date('2027-01-14T02:59:59Z');
    const { api, contact, marketing } = await shop({ caps: [{ channel: 'email', limit: 1, window: 'day' }] });
    const person = await contact(SANTIAGO);
    await settled(api, await marketing(person.id), 'sent');
    const [lock] = locksOf([contactSubject(person)]);
    const id = await behindLock(
      world.database,
      { sql: 'SELECT pg_advisory_xact_lock($1)', values: [lock] },
      () => marketing(person.id),
      () => (now = new Date('2027-01-14T03:00:00Z')),
    );
    await settled(api, id, 'sent');
  });

  it('count what went to anybody who went up in the contact, and part with the contact again', async () => {
    now = new Date('2027-02-17T12:00Z');
    const { api, contact, marketing } = await shop({ caps: [{ channel: 'email', limit: 2, window: 'day' }] });
    const [x, y, z] = [await contact(SANTIAGO), await contact(SANTIAGO), await contact(SANTIAGO)];
    const stateOf = async (id: string) => (await settled(api, await marketing(id), 'sent', 'capped')).state;
    const merge = (from: string, into: string | null) =>
      world.database.query('UPDATE contacts SET state = $2, merged_into = $3 WHERE id = $1', [
        from,
        into === null ? 'active' : 'merged',
        into,
      ]);
    expect(await stateOf(x.id)).toBe('sent');
    await merge(x.id, y.id);
    await merge(y.id, z.id);
    expect([await stateOf(x.id), await stateOf(z.id)]).toEqual(['sent', 'capped']);
    await merge(x.id, null);
    expect([await stateOf(x.id), await stateOf(x.id)]).toEqual(['sent', 'capped']);
  });

  it('count a send once, however often it is tried, and only what was let through', async () => {
    now = new Date('2027-02-10T12:00Z');
    const { api, contact, marketing } = await shop({ caps: [{ channel: 'email', limit: 2, window: 'day' }] });
    const person = await contact(SANTIAGO);
    const transactional = { category: 'transactional' };
    await settled(api, await marketing(person.id, transactional), 'sent');
    const suppression = await api.post<{ id: string }>('/v1/messaging/suppressions', {
      channel: 'email',
      address: person.email,
    });
    const blocked = await api.post(
      '/v1/messaging/sends',
      aSend({ recipient: { contact_id: person.id }, category: 'marketing' }),
      { 'idempotency-key': randomUUID() },
    );
    expect(blocked).toMatchObject({ status: 422, body: { code: 'recipient_suppressed' } });
    await api.delete(`/v1/messaging/suppressions/${suppression.body.id}`);
    world.mail.treat = (address) =>
      address === person.email ? { code: 451, text: '4.3.0 later' } : undefined;
    const tried = await marketing(person.id);
    await eventually(async () =>
      expect(await shown(api, tried)).toMatchObject({ attempts: 1, state: 'gated' }),
    );
    world.mail.treat = () => undefined;
    now = new Date(now.getTime() + 31_000);
    await settled(api, tried, 'sent');
    await settled(api, await marketing(person.id), 'sent');
    expect(await settled(api, await marketing(person.id), 'capped')).toMatchObject({
      reason: 'cap',
      attempts: 0,
    });
    await settled(api, await marketing(person.id, transactional), 'sent');
    const used = await world.database.query('SELECT used FROM cap_counters WHERE contact_id = $1', [
      person.id,
    ]);
    expect(used).toEqual([{ used: 2 }]);
  });
});
