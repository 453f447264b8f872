import { contactChange, domainEvent } from '@customer-platform/testing';
import fc from 'fast-check';
import { newId } from '@customer-platform/database';
import type { Permission } from '@customer-platform/permissions';
import type { Answer, Caller } from '@customer-platform/testing';
import { ContactRefsConsumer } from '../contact-refs/contact-refs.consumer.js';
import { anItem, startCrm, type StubItem, type TestCrm } from '../crm.fixture.js';
import type { ItemType } from './fragments.js';
import type { TimelineDto, TimelineItemDto } from './timeline.dto.js';

const PERMISSIONS: Readonly<Record<ItemType, Permission>> = {
  event: 'core.events.read',
  consent: 'core.consents.read',
  transaction: 'loyalty.transactions.read',
  send: 'messaging.sends.read',
};
const TYPES = Object.keys(PERMISSIONS) as ItemType[];
const SUBSETS = Array.from({ length: 16 }, (_, bits) => TYPES.filter((_type, at) => bits & (1 << at)));

/** Few times for many items, so that ties are the rule. */
const histories = fc.array(fc.record({ type: fc.constantFrom(...TYPES), second: fc.nat({ max: 3 }) }), {
  maxLength: 24,
});
type History = readonly { type: ItemType; second: number }[];

let crm: TestCrm;
let consumer: ContactRefsConsumer;
const organizationId = newId();
const callers = new Map<readonly ItemType[], Caller>();
beforeAll(async () => {
  crm = await startCrm();
  consumer = crm.app.app.get(ContactRefsConsumer);
  for (const types of SUBSETS) {
    const permissions = types.map((type) => PERMISSIONS[type]);
    callers.set(types, crm.app.as(organizationId, ['crm.timeline.read', ...permissions]));
  }
});
afterAll(() => crm.close());
beforeEach(() => {
  crm.modules.reset();
});

function callerOf(types: readonly ItemType[]): Caller {
  const caller = callers.get(types);
  if (!caller) throw new Error('one of the subsets themselves');
  return caller;
}

const [NOTHING = [], EVERYTHING = []] = [SUBSETS[0], SUBSETS[15]];

async function aContact(): Promise<string> {
  const id = newId();
  await consumer.follow([domainEvent('core.contact.created.v1', organizationId, contactChange(id, 1))]);
  return id;
}

function fill(contactId: string, history: History): StubItem[] {
  return history.map(({ type, second }) => {
    const item = anItem(type, contactId, `2026-11-21T09:00:0${String(second)}.000Z`);
    crm.modules.items[type].push(item);
    return item;
  });
}

interface Walk {
  contactId: string;
  readonly items: TimelineItemDto[];
  cursor: string | null;
}

/**
 * The next page, following the redirect of a merge; a busy machine may keep a source waiting beyond its time, and the
 * same cursor completes the page then.
 */
async function step(caller: Caller, walk: Walk, limit: number): Promise<void> {
  for (;;) {
    const query = `?limit=${String(limit)}${walk.cursor ? `&cursor=${walk.cursor}` : ''}`;
    const answer = await caller.get<TimelineDto>(`/v1/crm/contacts/${walk.contactId}/timeline${query}`);
    if (answer.status === 307) {
      walk.contactId = answer.headers.get('location')?.split('/')[4] ?? '';
      continue;
    }
    expect(answer.status).toBe(200);
    if (answer.body.unreachable.length > 0) continue;
    walk.items.push(...answer.body.data);
    walk.cursor = answer.body.page.next_cursor;
    return;
  }
}

async function walkOf(types: readonly ItemType[], contactId: string, limit: number): Promise<Walk> {
  const walk: Walk = { contactId, items: [], cursor: null };
  do await step(callerOf(types), walk, limit);
  while (walk.cursor);
  return walk;
}

/** The total order, from the words of the specification. */
function inOrder(items: readonly TimelineItemDto[]): TimelineItemDto[] {
  const by = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
  return [...items].sort(
    (a, b) => by(b.occurred_at, a.occurred_at) || by(a.source, b.source) || by(b.id, a.id),
  );
}

describe('a timeline is the union of what the caller may see', () => {
  it('for every subset of the permissions; the other sources are not called', async () => {
    await fc.assert(
      fc.asyncProperty(histories, fc.integer({ min: 1, max: 9 }), async (history, limit) => {
        crm.modules.reset();
        const contactId = await aContact();
        fill(contactId, history);
        const whole = await walkOf(EVERYTHING, contactId, 200);
        expect(whole.items).toEqual(inOrder(whole.items));
        expect(whole.items).toHaveLength(history.length);
        for (const types of SUBSETS) {
          crm.modules.received.length = 0;
          const { items } = await walkOf(types, contactId, limit);
          expect(items).toEqual(whole.items.filter(({ type }) => types.includes(type as ItemType)));
          expect(crm.modules.askedFor()).toEqual([...types].sort());
        }
      }),
      { numRuns: 8 },
    );
  }, 180_000);

  it('without the permission every page is, byte for byte, that of a contact that has no points', async () => {
    const types = SUBSETS.find((each) => each.length === 3 && !each.includes('transaction')) ?? NOTHING;
    await fc.assert(
      fc.asyncProperty(histories, fc.integer({ min: 1, max: 9 }), async (history, limit) => {
        crm.modules.reset();
        const contactId = await aContact();
        fill(contactId, history);
        const pages = async (): Promise<string[]> => {
          const seen: string[] = [];
          for (let cursor: string | null = ''; cursor !== null;) {
            const query: string = `?limit=${String(limit)}${cursor ? `&cursor=${cursor}` : ''}`;
            const path = `/v1/crm/contacts/${contactId}/timeline${query}`;
            const { status, body }: Answer<TimelineDto> = await callerOf(types).get<TimelineDto>(path);
            expect(status).toBe(200);
            if (body.unreachable.length > 0) continue;
            cursor = body.page.next_cursor;
            const more = cursor === null ? null : 'more';
            seen.push(JSON.stringify({ ...body, page: { ...body.page, next_cursor: more } }));
          }
          return seen;
        };
        const withPoints = await pages();
        crm.modules.items.transaction.length = 0;
        expect(await pages()).toEqual(withPoints);
      }),
      { numRuns: 10 },
    );
  }, 180_000);
});

describe('a merge in the middle of a walk', () => {
  it('brings what the contact had once, in order, and what the other had from there on', async () => {
    const scenario = fc.record({
      own: histories,
      others: histories,
      limit: fc.integer({ min: 1, max: 5 }),
      after: fc.nat({ max: 6 }),
      walked: fc.constantFrom('survivor', 'merged'),
    });
    await fc.assert(
      fc.asyncProperty(scenario, async ({ own, others, limit, after, walked }) => {
        crm.modules.reset();
        const [contactId, other] = [await aContact(), await aContact()];
        const mine = fill(contactId, own).map(({ id }) => id);
        const theirs = fill(other, others);
        const walk: Walk = { contactId, items: [], cursor: null };
        let merged = false;
        for (let page = 0; page === 0 || walk.cursor; page += 1) {
          if (page > 0 && page >= after && !merged) {
            merged = true;
            const [survivor, gone] = walked === 'survivor' ? [contactId, other] : [other, contactId];
            await merge(survivor, gone);
          }
          await step(callerOf(EVERYTHING), walk, limit);
        }
        expect(walk.items).toEqual(inOrder(walk.items));
        const ids = walk.items.map(({ id }) => id);
        expect(new Set(ids).size).toBe(ids.length);
        expect(ids.filter((id) => mine.includes(id)).sort()).toEqual([...mine].sort());
        const strangers = ids.filter((id) => !mine.includes(id));
        expect(theirs.map(({ id }) => id)).toEqual(expect.arrayContaining(strangers));
        if (!merged) expect(strangers).toEqual([]);
      }),
      { numRuns: 40 },
    );
  }, 180_000);

  /** The modules move the rows, then core tells of the merge. */
  async function merge(survivor: string, gone: string): Promise<void> {
    for (const type of TYPES) {
      for (const item of crm.modules.items[type]) if (item.contact_id === gone) item.contact_id = survivor;
    }
    await consumer.follow([
      domainEvent('core.contact.merged.v1', organizationId, {
        merge_id: newId(),
        survivor_id: survivor,
        merged_id: gone,
        survivor_version: 2,
        merged_version: 2,
      }),
    ]);
  }
});
