import { newId } from '@customer-platform/database';
import type { Permission } from '@customer-platform/permissions';
import type { Caller } from '@customer-platform/testing';
import { anItem, startCrm, type StubItem, type TestCrm } from '../crm.fixture.js';
import type { ItemType } from './fragments.js';
import type { TimelineDto } from './timeline.dto.js';

const TYPES: readonly ItemType[] = ['event', 'consent', 'transaction', 'send'];
const ALL: Permission[] = [
  'crm.timeline.read',
  'core.events.read',
  'core.consents.read',
  'loyalty.transactions.read',
  'messaging.sends.read',
];
const TIME = '2026-11-21T09:00:00.000Z';

let crm: TestCrm;
let caller: Caller;
let contactId: string;

beforeAll(async () => {
  crm = await startCrm();
});
afterAll(() => crm.close());
beforeEach(() => {
  crm.modules.reset();
  const organizationId = newId();
  contactId = crm.aContact(organizationId).id;
  caller = crm.app.as(organizationId, ALL);
});

function has(type: ItemType, occurredAt = TIME, override: Partial<StubItem> = {}): StubItem {
  const item = anItem(type, contactId, occurredAt, override);
  crm.modules.items[type].push(item);
  return item;
}

const read = async (query = ''): Promise<TimelineDto> => {
  const { status, body } = await caller.get<TimelineDto>(`/v1/crm/contacts/${contactId}/timeline${query}`);
  expect(status).toBe(200);
  return body;
};

/** Core's answer about its two parts. */
const told = (event: object, consent: object, ...lines: string[]): { told: string } => ({
  told: [JSON.stringify({ event, consent }), ...lines].join('\n'),
});
const NOTHING = { status: 200, fields: [], heads: [], more: false };

describe('modules that answer all parts at once', () => {
  it('are asked once each, from where each part stands', async () => {
    for (let at = 0; at < 3; at += 1)
      for (const type of TYPES) has(type, `2026-11-21T09:0${String(at)}:00.000Z`);
    const { page } = await read('?limit=5');
    crm.modules.received.length = 0;
    await read(`?limit=5&cursor=${String(page.next_cursor)}`);
    expect(crm.modules.received.map(({ path, types }) => [path, types])).toEqual([
      ['/v1/core/events', ['event', 'consent']],
      ['/v1/loyalty/transactions', ['transaction']],
      ['/v1/messaging/sends', ['send']],
    ]);
  });

  it('are asked for each list where the page is narrowed by more than its types', async () => {
    TYPES.forEach((type) => has(type));
    const { data } = await read('?occurred_at[gte]=2026-11-21T08:00:00Z');
    expect(data).toHaveLength(4);
    expect(crm.modules.received.map(({ types }) => types).sort()).toEqual(TYPES.map((type) => [type]).sort());
  });

  it('show items as they sent them, whatever stands in them', async () => {
    const properties = {
      text: 'a line\nand "more" \u2028 🛒',
      numbers: [1e21, -0.5, 1e-7],
      nested: [{}, null],
      '': 0,
    };
    const event = has('event', TIME, { properties });
    const { data } = await read();
    expect(data[0]?.data).toEqual(event);
    expect(data[0]?.title).toBe('invoice_paid');
  });

  it.each([1, 2, 3, 50])('and those of the release before come to the same pages of %s', async (limit) => {
    for (let at = 0; at < 4; at += 1) {
      for (const type of TYPES) has(type, `2026-11-21T09:0${String(at % 2)}:00.000Z`);
    }
    const pages = async (atOnce: boolean): Promise<TimelineDto[]> => {
      crm.modules.atOnce = atOnce;
      const walked: TimelineDto[] = [];
      for (let cursor: string | null = ''; cursor !== null;) {
        const page: TimelineDto = await read(`?limit=${String(limit)}${cursor && `&cursor=${cursor}`}`);
        walked.push(page);
        cursor = page.page.next_cursor;
      }
      return walked;
    };
    expect(await pages(true)).toEqual(await pages(false));
  });
});

describe('what a module tells of a part', () => {
  it('403 is no permission, 404 no data, the others stand', async () => {
    has('send');
    crm.modules.behaviour.event = told({ status: 403 }, { status: 404 });
    expect(await read()).toMatchObject({ data: [{ type: 'send' }], unreachable: [] });
  });

  it.each([307, 500])('%s makes the module unreachable, the others stand', async (status) => {
    has('send');
    crm.modules.behaviour.event = told({ status }, NOTHING);
    expect(await read()).toMatchObject({ data: [{ type: 'send' }], unreachable: ['core'] });
  });

  it.each<[string, { told: string }]>([
    ['no JSON', { told: '<html>' }],
    ['no parts', { told: 'null' }],
    ['an item too few', told({ ...NOTHING, fields: ['id'], heads: [[newId()]] }, NOTHING)],
    ['an item too many', told(NOTHING, NOTHING, '{}')],
    ['an item that is none', told({ ...NOTHING, fields: ['id'], heads: [[newId()]] }, NOTHING, '"text"')],
    ['an item without time', told({ ...NOTHING, fields: ['id'], heads: [[newId()]] }, NOTHING, '{}')],
    ['a part too few', { told: JSON.stringify({ consent: NOTHING }) }],
  ])('%s makes it unreachable', async (_, behaviour) => {
    has('send');
    crm.modules.behaviour.event = behaviour;
    expect(await read()).toMatchObject({ data: [{ type: 'send' }], unreachable: ['core'] });
  });

  it.each([500, 503])('%s of all at once is of none of them: the list of each tells', async (status) => {
    TYPES.forEach((type) => has(type));
    crm.modules.together = { status };
    crm.modules.behaviour.consent = { status };
    const { data, unreachable } = await read();
    expect(data.map(({ type }) => type).sort()).toEqual(['event', 'send', 'transaction']);
    expect(unreachable).toEqual(['core']);
    expect(crm.modules.received.filter(({ path }) => path.startsWith('/v1/core/'))).toHaveLength(3);
  });

  it('that cannot be read is not there, and those that were cut with it are not trusted', async () => {
    const held = [has('event'), has('consent')].map(({ id }) => id);
    crm.modules.together = told(
      { ...NOTHING, more: true },
      { ...NOTHING, fields: ['id'], heads: [[newId()]] },
      '{}',
    );
    const { data, page, unreachable } = await read();
    expect(data.map(({ id }) => id).sort()).toEqual(held.sort());
    expect({ page, unreachable }).toMatchObject({ page: { next_cursor: null }, unreachable: [] });
  });

  it('more of nothing ends the walk', async () => {
    crm.modules.behaviour.event = told({ ...NOTHING, more: true }, { ...NOTHING, more: true });
    expect(await read()).toMatchObject({ data: [], page: { next_cursor: null }, unreachable: [] });
  });
});
