import { randomUUID } from 'node:crypto';
import { newId } from '@customer-platform/database';
import { PERMISSIONS } from '@customer-platform/permissions';
import {
  domainEvent,
  expectProblem,
  expectStatus,
  InternalPeer,
  type Caller,
} from '@customer-platform/testing';
import { EventsConsumer } from '../../events.consumer.js';
import { aSend, messagingWorld, send, settled, type MessagingWorld } from '../../messaging.fixture.js';
import type { ContactPreferencesDto } from './preferences.dto.js';

const READ = 'messaging.preferences.read';
const UPDATE = 'messaging.preferences.update';

let core: InternalPeer;
let world: MessagingWorld;
beforeAll(async () => {
  core = await InternalPeer.start({ 'POST /internal/contacts/lookup': () => ({ data: [] }) });
  world = await messagingWorld({ env: { CORE_INTERNAL_URL: core.url } });
  world.probe.collect('messaging');
});
afterAll(async () => {
  await world.close();
  await core.close();
});

const at = (id: string): string => `/v1/messaging/contacts/${id}/preferences`;

interface Person {
  readonly organizationId: string;
  readonly id: string;
  readonly email: string;
  readonly admin: Caller;
}

async function aPerson(known?: Pick<Person, 'organizationId' | 'admin'>, more: object = {}): Promise<Person> {
  const { id: made, api } = known ? { id: known.organizationId, api: known.admin } : world.organization();
  const id = newId();
  const email = `${id}@example.com`;
  const { state = 'active', merged_into = null } = more as { state?: string; merged_into?: string };
  await world.database.query(
    `INSERT INTO contacts (organization_id, id, version, state, merged_into, email, email_canonical)
     VALUES ($1, $2, 1, $3, $4, $5, $5)`,
    [made, id, state, merged_into, email],
  );
  if (!known) {
    const { hostname: host, port } = new URL(world.mail.url);
    const smtp = { provider: 'smtp', from: 'hola@example.com', host, port: Number(port), security: 'none' };
    const body = {
      channels: { email: { enabled: true, ...smtp } },
      topics: [
        { key: 'news', name: 'News', channels: ['email'], default: true },
        { key: 'offers', name: 'Offers', channels: ['email'], default: false },
      ],
    };
    expectStatus(await api.call('PUT', '/v1/messaging/channel-settings', { body }), 200);
  }
  return { organizationId: made, id, email, admin: api };
}

async function shown({ admin, id }: Person): Promise<ContactPreferencesDto> {
  const answer = await admin.get<ContactPreferencesDto>(at(id));
  expectStatus(answer, 200);
  return answer.body;
}

const change = ({ admin, id }: Person, body: object, headers: Record<string, string> = {}) =>
  admin.patch<ContactPreferencesDto>(at(id), body, headers);

async function stateOf({ admin, id }: Person, topic?: string): Promise<string> {
  const body = aSend({ recipient: { contact_id: id }, category: 'marketing', ...(topic ? { topic } : {}) });
  return (await settled(admin, await send(admin, body), 'sent', 'opted_out', 'failed')).state;
}

const declined = (organizationId: string, subject: string, topic = ''): Promise<unknown> =>
  world.database.query(
    `INSERT INTO preferences VALUES ($1, $2, 'email', $3, false, '2026-01-02T03:04:05Z')`,
    [organizationId, subject, topic],
  );

const auditOf = (organizationId: string): Promise<unknown[]> =>
  world.database.query(
    `SELECT actor_type, resource_id, changed_fields, reason FROM audit_entries
      WHERE organization_id = $1 AND action = 'messaging.preferences.update' ORDER BY occurred_at, id`,
    [organizationId],
  );

describe('GET /v1/messaging/contacts/{id}/preferences', () => {
  it('answers what a contact receives and has declined, by whatever way', async () => {
    const person = await aPerson();
    expect(await shown(person)).toMatchObject({
      contact_id: person.id,
      channels: { email: { marketing: true, topics: { news: true, offers: false } } },
      objections: [],
    });
    await declined(person.organizationId, `contact:${person.id}`, 'news');
    const since = '2026-01-02T03:04:05.000Z';
    expect(await shown(person)).toMatchObject({
      channels: { email: { marketing: true, topics: { news: false, offers: false } } },
      objections: [{ channel: 'email', topic: 'news', since }],
    });
  });

  it('307 of a merged contact to its survivor; 200 of a soft-deleted one; 404 of none, of an erased one', async () => {
    const survivor = await aPerson();
    const merged = await aPerson(survivor, { state: 'merged', merged_into: survivor.id });
    const moved = await survivor.admin.get(at(merged.id));
    expect([moved.status, moved.headers.get('location'), moved.headers.get('cache-control')]).toEqual([
      307,
      at(survivor.id),
      'no-store',
    ]);
    expect((await shown(await aPerson(survivor, { state: 'deleted' }))).objections).toEqual([]);
    const erased = await aPerson(survivor, { state: 'erased' });
    for (const id of [newId(), erased.id, (await aPerson()).id])
      expectProblem(await survivor.admin.get(at(id)), 404, 'not_found');
    expectProblem(await survivor.admin.get(at('x')), 400, 'invalid_id');
  });

  it('503 while core does not say who it is', async () => {
    const { admin } = await aPerson();
    core.outage(true);
    try {
      expectProblem(await admin.get(at(newId())), 503, 'dependency_unavailable');
    } finally {
      core.outage(false);
    }
  });
});

describe('PATCH /v1/messaging/contacts/{id}/preferences', () => {
  it('declines for the person without a reason, from the answer on, told and audited with the caller', async () => {
    const person = await aPerson();
    expect(await stateOf(person, 'news')).toBe('sent');
    const answer = await change(person, { channels: { email: { topics: { news: false, offers: true } } } });
    expectStatus(answer, 200);
    expect(answer.body.channels.email).toEqual({ marketing: true, topics: { news: false, offers: true } });
    expect([await stateOf(person, 'news'), await stateOf(person, 'offers')]).toEqual(['opted_out', 'sent']);
    const events = await world.probe.expectEvents(
      'messaging.preference.changed.v1',
      person.organizationId,
      2,
    );
    expect(events.map(({ data }) => data)).toEqual([
      { contact_id: person.id, channel: 'email', topic: 'news', subscribed: false },
      { contact_id: person.id, channel: 'email', topic: 'offers', subscribed: true },
    ]);
    expect(await auditOf(person.organizationId)).toEqual([
      {
        actor_type: 'api_key',
        resource_id: person.id,
        changed_fields: ['channels.email.topics.news', 'channels.email.topics.offers'],
        reason: null,
      },
    ]);
  });

  it.each([true, null])(
    'lifts what the person declined (%s) with a reason alone, which is audited',
    async (value) => {
      const person = await aPerson();
      await declined(person.organizationId, `contact:${person.id}`);
      const wish = { channels: { email: { marketing: value } } };
      for (const reason of [undefined, null, ' ']) {
        const refused = await change(person, { ...wish, reason });
        const problem = expectProblem(refused, 400, 'validation_failed');
        expect(problem.errors).toMatchObject([{ pointer: '/reason', code: 'required' }]);
      }
      expect(await stateOf(person)).toBe('opted_out');
      const answer = await change(person, { ...wish, reason: 'Asked by telephone' });
      expectStatus(answer, 200);
      expect([answer.body.channels.email.marketing, answer.body.objections]).toEqual([true, []]);
      expect(await stateOf(person)).toBe('sent');
      expect(await auditOf(person.organizationId)).toMatchObject([
        { changed_fields: ['channels.email.marketing'], reason: 'Asked by telephone' },
      ]);
    },
  );

  it('asks for a reason too where a link ended it, and where nothing comes of it', async () => {
    const person = await aPerson();
    const body = aSend({ recipient: { contact_id: person.id }, category: 'marketing' });
    await settled(person.admin, await send(person.admin, body), 'sent');
    const [mail] = await world.mail.parsed(person.email);
    const link = new URL(
      mail?.headers.find(({ key }) => key === 'list-unsubscribe')?.value.slice(1, -1) ?? '',
    );
    await fetch(`${world.app.url}${link.pathname}${link.search}`, { method: 'POST' });
    await declined(person.organizationId, `contact:${person.id}`, 'offers');
    const wish = { channels: { email: { marketing: true, topics: { offers: null } } } };
    expectProblem(await change(person, wish), 400, 'validation_failed');
    expectStatus(await change(person, { ...wish, reason: 'By letter' }), 200);
    expect((await shown(person)).objections).toEqual([]);
    expect(await auditOf(person.organizationId)).toMatchObject([
      { actor_type: 'member' },
      { changed_fields: ['channels.email.marketing', 'channels.email.topics.offers'], reason: 'By letter' },
    ]);
  });

  it('takes back what was declined of a topic that the settings have no more, and no other choice of it', async () => {
    const person = await aPerson();
    await declined(person.organizationId, `contact:${person.id}`, 'sports');
    expect((await shown(person)).objections).toMatchObject([{ channel: 'email', topic: 'sports' }]);
    const wish = (sports: boolean | null) => ({
      channels: { email: { topics: { sports } } },
      reason: 'Asked',
    });
    for (const value of [true, false]) {
      const { errors } = expectProblem(await change(person, wish(value)), 400, 'validation_failed');
      expect(errors).toMatchObject([{ pointer: '/channels/email/topics/sports', code: 'unknown_field' }]);
    }
    const answer = await change(person, wish(null));
    expectStatus(answer, 200);
    expect(answer.body.objections).toEqual([]);
    expect(await auditOf(person.organizationId)).toMatchObject([
      { changed_fields: ['channels.email.topics.sports'], reason: 'Asked' },
    ]);
  });

  it('412 where it was changed since it was read', async () => {
    const person = await aPerson();
    const tag = (await person.admin.get(at(person.id))).headers.get('etag') ?? '';
    const wish = { channels: { email: { marketing: false } } };
    expectStatus(await change(person, wish, { 'If-Match': tag }), 200);
    const late = { channels: { email: { topics: { news: false } } } };
    expectProblem(await change(person, late, { 'If-Match': tag }), 412, 'etag_mismatch');
  });

  it('refuses topics that there are not and what it does not know; a merged and a soft-deleted contact are 409', async () => {
    const person = await aPerson();
    const unknown = await change(person, { channels: { email: { topics: { sports: true } } } });
    expect(expectProblem(unknown, 400, 'validation_failed').errors).toMatchObject([
      { pointer: '/channels/email/topics/sports', code: 'unknown_field' },
    ]);
    for (const body of [{ channels: { fax: {} } }, { notifications_read_until: null }, { reason: '' }])
      expectStatus(await change(person, body), 400);
    const merged = await aPerson(person, { state: 'merged', merged_into: person.id });
    const wish = { channels: { email: { marketing: false } } };
    expect(expectProblem(await change(merged, wish), 409, 'contact_merged')['survivor_id']).toBe(person.id);
    const deleted = await aPerson(person, { state: 'deleted' });
    expectProblem(await change(deleted, wish), 409, 'resource_deleted');
    expectProblem(await change({ ...person, id: newId() }, wish), 404, 'not_found');
    expect(await auditOf(person.organizationId)).toEqual([]);
  });

  it('leaves nothing of an erased person, and what was declined still blocks', async () => {
    const person = await aPerson();
    expectStatus(await change(person, { channels: { email: { marketing: false } } }), 200);
    const data = { subject_request_id: newId(), contact_id: person.id };
    const consumer = world.app.app.get(EventsConsumer);
    await consumer.erase([domainEvent('core.erasure.requested.v1', person.organizationId, data)]);
    expectProblem(await change(person, { channels: { email: { marketing: false } } }), 404, 'not_found');
    const rows = await world.database.query<{ subject: string }>(
      'SELECT subject FROM preferences WHERE organization_id = $1',
      [person.organizationId],
    );
    expect(rows.map(({ subject }) => subject.startsWith('contact:'))).toEqual([false]);
    const body = aSend({ recipient: { address: person.email }, category: 'marketing' });
    const id = await send(person.admin, body);
    await settled(person.admin, id, 'opted_out');
  });
});

it.each([
  ['GET', READ],
  ['PATCH', UPDATE],
] as const)('%s needs its permission and nothing else', async (method, permission) => {
  const person = await aPerson();
  const others = world.app.as(
    person.organizationId,
    PERMISSIONS.filter((one) => one !== permission),
  );
  const body = method === 'PATCH' ? { body: {} } : {};
  const refused = expectProblem(await others.call(method, at(person.id), body), 403, 'permission_denied');
  expect(refused['permission']).toBe(permission);
  expectStatus(
    await world.app.as(person.organizationId, [permission]).call(method, at(person.id), body),
    200,
  );
  const foreign = world.app.as(randomUUID(), [permission]);
  expectProblem(await foreign.call(method, at(person.id), body), 404, 'not_found');
});
