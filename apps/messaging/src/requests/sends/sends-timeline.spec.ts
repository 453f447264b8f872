import { newId } from '@customer-platform/database';
import {
  askTimeline,
  type Caller,
  type TimelineAnswer,
  type TimelineQuestion,
} from '@customer-platform/testing';
import { messagingWorld, type MessagingWorld, type ShownSend } from '../../messaging.fixture.js';

const FIELDS = ['id', 'created_at', 'channel', 'state'] as const;
const PART = { send: { fields: FIELDS } };
const SEND = `
  INSERT INTO sends (organization_id, id, channel, state, category, contact_id, recipient, source, metadata, lane, sent_at,
    created_at, updated_at)
  VALUES ($1, $2, 'email', 'sent', 'transactional', $3, '{}', 'api', '{"order": 1}', 0, $4, $4, $4)`;
const CONTACT = `
  INSERT INTO contacts (organization_id, id, version, state, merged_into) VALUES ($1, $2, 1, $3, $4)`;

let world: MessagingWorld;
let organizationId: string;
let api: Caller;
beforeAll(async () => {
  world = await messagingWorld({ consume: false });
});
afterAll(() => world.close());
beforeEach(() => {
  ({ id: organizationId, api } = world.organization());
});

async function aContact(mergedInto: string | null = null): Promise<string> {
  const id = newId();
  const state = mergedInto === null ? 'active' : 'merged';
  await world.database.query(CONTACT, [organizationId, id, state, mergedInto]);
  return id;
}

async function aSend(contactId: string, minute: number): Promise<void> {
  const at = new Date(Date.UTC(2026, 0, 15, 12, minute)).toISOString();
  await world.database.query(SEND, [organizationId, newId(), contactId, at]);
}

const ask = (contactId: string, question: Partial<TimelineQuestion> = {}): Promise<TimelineAnswer> =>
  askTimeline(world.app, {
    organizationId,
    permissions: ['messaging.sends.read'],
    path: '/v1/messaging/sends',
    contactId,
    parts: PART,
    ...question,
  });

async function listed(contactId: string): Promise<ShownSend[]> {
  const answer = await api.get<{ data: ShownSend[] }>(`/v1/messaging/sends?contact_id=${contactId}`);
  return answer.body.data;
}

describe('what messaging has for a timeline', () => {
  it('is what the list shows', async () => {
    const id = await aContact();
    for (let at = 0; at < 4; at += 1) await aSend(id, at >> 1);
    const items = await listed(id);
    expect(items).toHaveLength(4);
    const heads = items.map((item) =>
      Object.fromEntries(FIELDS.map((field) => [field, (item as unknown as Record<string, unknown>)[field]])),
    );
    expect((await ask(id)).parts).toEqual({ send: { status: 200, items, heads, more: false } });
  });

  it('goes on behind a place, as far as is asked for', async () => {
    const id = await aContact();
    for (let at = 0; at < 3; at += 1) await aSend(id, 0);
    const items = await listed(id);
    const [first] = items as [ShownSend];
    const after = { occurredAt: first.created_at, id: first.id };
    const { parts } = await ask(id, { limit: 1, parts: { send: { fields: [], after } } });
    expect(parts?.['send']).toMatchObject({ items: items.slice(1, 2), more: true });
  });

  it('is nothing for another organization, and 403 without the permission', async () => {
    const id = await aContact();
    await aSend(id, 0);
    const { parts } = await ask(id, { organizationId: newId() });
    expect(parts).toEqual({ send: { status: 200, items: [], heads: [], more: false } });
    expect((await ask(id, { permissions: ['messaging.templates.read'] })).parts).toEqual({
      send: { status: 403 },
    });
  });

  it('is that of a whole family, whichever of it is asked for', async () => {
    const survivor = await aContact();
    const merged = await aContact(survivor);
    await aSend(survivor, 0);
    await aSend(merged, 1);
    const items = await listed(survivor);
    expect(items).toHaveLength(2);
    for (const id of [survivor, merged]) {
      expect((await ask(id)).parts?.['send']).toMatchObject({ items, more: false });
    }
  });
});
