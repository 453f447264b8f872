import { newId } from '@customer-platform/database';
import type { Permission } from '@customer-platform/permissions';
import { eventually, type Caller } from '@customer-platform/testing';
import { anItem, startCrm, type Behaviour, type StubItem, type TestCrm } from '../crm.fixture.js';
import type { ItemType } from './fragments.js';
import type { TimelineDto } from './timeline.dto.js';

const TYPES: readonly ItemType[] = ['consent', 'event', 'send', 'transaction'];
const READ: Readonly<Record<ItemType, Permission>> = {
  event: 'core.events.read',
  consent: 'core.consents.read',
  transaction: 'loyalty.transactions.read',
  send: 'messaging.sends.read',
};
const SOURCE: Readonly<Record<ItemType, string>> = {
  event: 'core',
  consent: 'core',
  transaction: 'loyalty',
  send: 'messaging',
};
const ALL: Permission[] = ['crm.timeline.read', ...Object.values(READ)];

let crm: TestCrm;

beforeAll(async () => {
  crm = await startCrm();
});
afterAll(() => crm.close());
beforeEach(() => {
  crm.modules.reset();
});

interface World {
  readonly organizationId: string;
  readonly contactId: string;
  readonly caller: Caller;
}

function aWorld(permissions: readonly Permission[] = ALL): World {
  const organizationId = newId();
  return {
    organizationId,
    contactId: crm.aContact(organizationId).id,
    caller: crm.app.as(organizationId, permissions),
  };
}

function has(
  type: ItemType,
  contactId: string,
  occurredAt: string,
  override: Partial<StubItem> = {},
): StubItem {
  const item = anItem(type, contactId, occurredAt, override);
  crm.modules.items[type].push(item);
  return item;
}

/** One item of each type, a minute apart: a consent, an event, a transaction, a send, newest last. */
function hasOneOfEach(contactId: string): Record<ItemType, StubItem> {
  return {
    consent: has('consent', contactId, '2026-11-21T09:00:00.000Z'),
    event: has('event', contactId, '2026-11-21T09:01:00.000Z'),
    transaction: has('transaction', contactId, '2026-11-21T09:02:00.000Z'),
    send: has('send', contactId, '2026-11-21T09:03:00.000Z'),
  };
}

const path = (contactId: string, query = ''): string => `/v1/crm/contacts/${contactId}/timeline${query}`;

describe('GET /v1/crm/contacts/{id}/timeline', () => {
  it('shows what the modules hold, newest first, each item as its module sent it', async () => {
    const { contactId, caller } = aWorld();
    const items = hasOneOfEach(contactId);
    const { status, body } = await caller.get<TimelineDto>(path(contactId));
    expect(status).toBe(200);
    expect(body).toEqual({
      data: [
        item('send', items.send, 'email sent', items.send['created_at']),
        item('transaction', items.transaction, 'earn +12'),
        item('event', items.event, 'invoice_paid'),
        item('consent', items.consent, 'marketing granted'),
      ],
      page: { limit: 50, next_cursor: null },
      unreachable: [],
      gaps: [],
    });
  });

  it('orders equal times by source ascending, then id descending', async () => {
    const { contactId, caller } = aWorld();
    const time = '2026-11-21T09:00:00.000Z';
    for (const type of TYPES) for (let at = 0; at < 3; at += 1) has(type, contactId, time);
    const { body } = await caller.get<TimelineDto>(path(contactId));
    const places = body.data.map(({ source, id }) => ({ source, id }));
    expect(places.map(({ source }) => source)).toEqual([
      ...Array<string>(6).fill('core'),
      ...Array<string>(3).fill('loyalty'),
      ...Array<string>(3).fill('messaging'),
    ]);
    for (const source of ['core', 'loyalty', 'messaging']) {
      const ids = places.filter((each) => each.source === source).map(({ id }) => id);
      expect(ids).toEqual([...ids].sort().reverse());
    }
  });

  it('calls as the caller, in the request’s correlation, and keeps nothing', async () => {
    const { contactId, caller } = aWorld();
    const correlationId = newId();
    await caller.get(path(contactId), { headers: { 'x-correlation-id': correlationId } });
    expect(crm.modules.received.map(({ types }) => types)).toEqual([
      ['event', 'consent'],
      ['transaction'],
      ['send'],
    ]);
    for (const { headers, query } of crm.modules.received) {
      expect(headers.authorization).toMatch(/^Bearer cpk_live_/);
      expect(headers['x-correlation-id']).toBe(correlationId);
      expect(query.get('sort')).toBe('-occurred_at');
    }
    const tables = await crm.database.query<{ name: string }>(
      `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public' AND table_name ~ 'timeline'`,
    );
    expect(tables).toEqual([]);
  });

  it('shows points spent with their sign, an identify by its type, and cuts a long title', async () => {
    const { contactId, caller } = aWorld();
    has('transaction', contactId, '2026-11-21T09:03:00.000Z', { kind: 'spend', points: -40 });
    has('event', contactId, '2026-11-21T09:02:00.000Z', { event: null, type: 'identify' });
    has('event', contactId, '2026-11-21T09:01:00.000Z', { event: '🛒'.repeat(200) });
    const { body } = await caller.get<TimelineDto>(path(contactId));
    const titles = body.data.map(({ title }) => title);
    expect(titles.slice(0, 2)).toEqual(['spend -40', 'identify']);
    expect(titles[2]?.length).toBeLessThanOrEqual(400);
    expect([...(titles[2] ?? '')]).toHaveLength(200);
    expect(titles[2]?.isWellFormed()).toBe(true);
  });
});

describe('permissions', () => {
  const subsets = Array.from({ length: 16 }, (_, bits) => TYPES.filter((_type, at) => (bits >> at) & 1));

  it.each(subsets.map((types) => ({ types })))(
    'with $types: those are called and shown, nothing else is',
    async ({ types }) => {
      const { contactId, caller } = aWorld(['crm.timeline.read', ...types.map((type) => READ[type])]);
      hasOneOfEach(contactId);
      const { status, body } = await caller.get<TimelineDto>(path(contactId));
      expect(status).toBe(200);
      expect(body.data.map(({ type }) => type).sort()).toEqual(types);
      expect(body.unreachable).toEqual([]);
      expect(crm.modules.received.length).toBe(new Set(types.map((type) => SOURCE[type])).size);
      expect(crm.modules.askedFor()).toEqual(types);
    },
  );

  it('the body without loyalty’s permission equals, byte for byte, that of a contact without points', async () => {
    const { organizationId, contactId } = aWorld();
    const without = ALL.filter((permission) => permission !== 'loyalty.transactions.read');
    hasOneOfEach(contactId);
    const lacking = await bytes(organizationId, without, path(contactId));
    crm.modules.items.transaction.length = 0;
    const pointless = await bytes(organizationId, ALL, path(contactId));
    expect(lacking).toBe(pointless);
  });

  it('a source that is down is not told of to a caller who may not see it', async () => {
    const without = ALL.filter((permission) => permission !== 'loyalty.transactions.read');
    const { contactId, caller } = aWorld(without);
    crm.modules.behaviour.transaction = { status: 503 };
    const { body } = await caller.get<TimelineDto>(path(contactId));
    expect(body.unreachable).toEqual([]);
  });

  it('403 without crm.timeline.read, with every other permission', async () => {
    const { contactId, caller } = aWorld(Object.values(READ));
    const { status, body } = await caller.get<{ code: string }>(path(contactId));
    expect({ status, code: body.code }).toEqual({ status: 403, code: 'permission_denied' });
    expect(crm.modules.received).toHaveLength(0);
  });
});

describe('a source that fails', () => {
  const outOfOrder = JSON.stringify({
    data: [
      { id: newId(), occurred_at: '2026-11-21T09:00:00.000Z', correlation_id: null },
      { id: newId(), occurred_at: '2026-11-21T09:01:00.000Z', correlation_id: null },
    ],
    page: { next_cursor: null },
  });
  const failures: [string, Behaviour][] = [
    ['answers too late', 'slowly'],
    ['never answers', 'never'],
    ['hangs up', 'hangs up'],
    ['answers 500', { status: 500 }],
    ['answers 503', { status: 503 }],
    ['answers 429', { status: 429 }],
    ['answers 400', { status: 400 }],
    ['redirects', { status: 307 }],
    ['sends no JSON', { text: '<html>' }],
    ['sends half of it', { text: '{"data": [{"id": ' }],
    ['sends no page', { text: '{"data": []' + '}' + ' ' + ']' }],
    ['sends null', { text: 'null' }],
    ['sends no list', { text: '{"data": {}, "page": {"next_cursor": null}}' }],
    [
      'sends an item without id',
      { text: '{"data": [{"occurred_at": "2026-11-21T09:00:00.000Z"}], "page": {"next_cursor": null}}' },
    ],
    [
      'sends an item without time',
      { text: `{"data": [{"id": "${newId()}"}], "page": {"next_cursor": null}}` },
    ],
    ['sends items out of order', { text: outOfOrder }],
  ];

  it.each(failures)('%s: it is named unreachable, the rest is shown', async (_, behaviour) => {
    const { contactId, caller } = aWorld();
    hasOneOfEach(contactId);
    crm.modules.behaviour.transaction = behaviour;
    const { status, body } = await caller.get<TimelineDto>(path(contactId));
    expect(status).toBe(200);
    expect(body.unreachable).toEqual(['loyalty']);
    expect(body.data.map(({ type }) => type)).toEqual(['send', 'event', 'consent']);
    expect(body.page.next_cursor).toBeNull();
  });

  it.each(TYPES)('any of them may: %s', async (type) => {
    const { contactId, caller } = aWorld();
    hasOneOfEach(contactId);
    crm.modules.behaviour[type] = { status: 502 };
    const { body } = await caller.get<TimelineDto>(path(contactId));
    expect(body.unreachable).toEqual([SOURCE[type]]);
    expect(body.data.map((each) => each.type).sort()).toEqual(TYPES.filter((other) => other !== type));
  });

  it('all at once: 200, empty, all named once', async () => {
    const { contactId, caller } = aWorld();
    hasOneOfEach(contactId);
    for (const type of TYPES) crm.modules.behaviour[type] = 'hangs up';
    const { status, body } = await caller.get<TimelineDto>(path(contactId));
    expect(status).toBe(200);
    expect(body).toEqual({
      data: [],
      page: { limit: 50, next_cursor: null },
      unreachable: ['core', 'loyalty', 'messaging'],
      gaps: [],
    });
  });

  it('all slow at once take as long as one', async () => {
    const { contactId, caller } = aWorld();
    for (const type of TYPES) crm.modules.behaviour[type] = 'never';
    const { body } = await caller.get<TimelineDto>(path(contactId));
    expect(body.unreachable).toHaveLength(3);
  });

  it('403 of a source counts as no permission', async () => {
    const { contactId, caller } = aWorld();
    hasOneOfEach(contactId);
    crm.modules.behaviour.send = { status: 403, body: { code: 'permission_denied' } };
    const { body } = await caller.get<TimelineDto>(path(contactId));
    expect(body.unreachable).toEqual([]);
    expect(body.data.map(({ type }) => type)).toEqual(['transaction', 'event', 'consent']);
  });

  it.each(['route_not_found', 'not_found'])(
    '404 %s is no data: a module not delivered is no source',
    async (code) => {
      const { contactId, caller } = aWorld();
      hasOneOfEach(contactId);
      crm.modules.behaviour.consent = { status: 404, body: { code } };
      const { body } = await caller.get<TimelineDto>(path(contactId));
      expect(body.unreachable).toEqual([]);
      expect(body.data.map(({ type }) => type)).toEqual(['send', 'transaction', 'event']);
    },
  );

  it.each(['token_expired', 'invalid_token', 'missing_credentials'])(
    '401 %s of a source ends in 401',
    async (code) => {
      const { contactId, caller } = aWorld();
      crm.modules.behaviour.event = { status: 401, body: { code } };
      const answer = await caller.get<{ code: string }>(path(contactId));
      expect(answer.status).toBe(401);
      expect(answer.body.code).toBe(code);
      expect(answer.headers.get('www-authenticate')).toContain('Bearer');
    },
  );
});

describe('filters', () => {
  it.each([
    ['?source=core', ['event', 'consent']],
    ['?source[in]=loyalty,messaging', ['send', 'transaction']],
    ['?type=send', ['send']],
    ['?type[in]=consent,transaction', ['transaction', 'consent']],
    ['?source=core&type[in]=event,send', ['event']],
    ['?source=core&type=send', []],
    ['?occurred_at[gte]=2026-11-21T09:01:00Z&occurred_at[lt]=2026-11-21T09:03:00Z', ['transaction', 'event']],
    ['?occurred_at[gt]=2026-11-21T09:02:00Z', ['send']],
    ['?occurred_at[lte]=2026-11-21T10:00:00%2B01:00', ['consent']],
    ['?occurred_at=2026-11-21T09:02:00Z', ['transaction']],
    ['?occurred_at=2026-11-21T09:02:00Z&occurred_at[gte]=2026-11-21T09:00:00Z', ['transaction']],
    ['?occurred_at=2026-11-21T09:02:00Z&occurred_at[gt]=2026-11-21T09:02:00Z', []],
  ])('%s', async (query, types) => {
    const { contactId, caller } = aWorld();
    hasOneOfEach(contactId);
    const { status, body } = await caller.get<TimelineDto>(path(contactId, query));
    expect(status).toBe(200);
    expect(body.data.map(({ type }) => type)).toEqual(types);
  });

  it('correlation_id shows what one cause led to, and only fragments that are wanted are called', async () => {
    const { contactId, caller } = aWorld();
    hasOneOfEach(contactId);
    const cause = newId();
    has('event', contactId, '2026-11-21T10:00:00.000Z', { correlation_id: cause });
    has('send', contactId, '2026-11-21T10:00:01.000Z', { correlation_id: cause });
    const { body } = await caller.get<TimelineDto>(
      path(contactId, `?correlation_id=${cause}&type[in]=event,send`),
    );
    expect(body.data.map(({ type, correlation_id: id }) => [type, id])).toEqual([
      ['send', cause],
      ['event', cause],
    ]);
    expect(crm.modules.askedFor()).toEqual(['event', 'send']);
  });

  it.each([
    ['?sort=occurred_at', 'invalid_sort'],
    ['?sort=title', 'invalid_sort'],
    ['?limit=0', 'invalid_limit'],
    ['?source=crm', 'invalid_filter'],
    ['?source[ne]=core', 'invalid_filter'],
    ['?type[prefix]=s', 'invalid_filter'],
    ['?occurred_at[gt]=yesterday', 'invalid_filter'],
    ['?occurred_at[gt]=2026-11-21T09:00:00', 'invalid_filter'],
    ['?correlation_id=1', 'invalid_filter'],
    ['?contact_id=1', 'unknown_parameter'],
    ['?before_id=1', 'unknown_parameter'],
    ['?cursor=abc', 'invalid_cursor'],
  ])('%s is 400 %s, and no source is called', async (query, code) => {
    const { contactId, caller } = aWorld();
    const { status, body } = await caller.get<{ code: string }>(path(contactId, query));
    expect({ status, code: body.code }).toEqual({ status: 400, code });
    expect(crm.modules.received).toHaveLength(0);
  });

  it('a larger limit is taken as 200 and said so', async () => {
    const { contactId, caller } = aWorld();
    const { body } = await caller.get<TimelineDto>(path(contactId, '?limit=1000'));
    expect(body.page.limit).toBe(200);
    expect(crm.modules.received[0]?.query.get('limit')).toBe('200');
  });
});

function item(type: ItemType, data: StubItem, title: string, occurredAt = data['occurred_at']): unknown {
  const { id, correlation_id: correlationId } = data;
  const source = SOURCE[type];
  return { id, source, type, occurred_at: occurredAt, correlation_id: correlationId, title, data };
}

/** The body as it came over the wire. */
async function bytes(
  organizationId: string,
  permissions: readonly Permission[],
  at: string,
): Promise<string> {
  const key = crm.app.registry.key({ organizationId, permissions });
  return eventually(async () => {
    const response = await fetch(crm.app.url + at, { headers: { authorization: `Bearer ${key}` } });
    expect(response.status).toBe(200);
    return response.text();
  });
}
