import fc from 'fast-check';
import { newId } from '@customer-platform/database';
import type { Caller } from '@customer-platform/testing';
import { anItem, startCrm, type TestCrm } from '../crm.fixture.js';
import { FRAGMENTS, type Fragment, type ItemType } from './fragments.js';
import { step, walkFromStart } from './timeline-walk.js';
import type { TimelineDto, TimelineItemDto } from './timeline.dto.js';

const TYPES: readonly ItemType[] = ['event', 'consent', 'transaction', 'send'];

let crm: TestCrm;
const organizationId = newId();
let caller: Caller;

beforeAll(async () => {
  crm = await startCrm();
  caller = crm.app.as(organizationId, [
    'crm.timeline.read',
    'core.events.read',
    'core.consents.read',
    'loyalty.transactions.read',
    'messaging.sends.read',
  ]);
});
afterAll(() => crm.close());

/** Few times for many items, so that ties are the rule. */
const histories = fc.array(fc.record({ type: fc.constantFrom(...TYPES), second: fc.nat({ max: 4 }) }), {
  maxLength: 40,
});
const sizes = fc.integer({ min: 1, max: 7 });
const outages = fc.array(fc.subarray([...TYPES]), { maxLength: 12 });

function aHistory(items: readonly { type: ItemType; second: number }[]): string {
  crm.modules.reset();
  const { id } = crm.aContact(organizationId);
  for (const { type, second } of items) {
    crm.modules.items[type].push(anItem(type, id, `2026-11-21T09:00:0${String(second)}.000Z`));
  }
  return id;
}

function cut(types: readonly ItemType[]): void {
  for (const type of TYPES) crm.modules.behaviour[type] = types.includes(type) ? 'hangs up' : 'well';
}

async function page(contactId: string, limit: number, cursor: string | null): Promise<TimelineDto> {
  const query = new URLSearchParams({ limit: String(limit), ...(cursor ? { cursor } : {}) });
  const { status, body } = await caller.get<TimelineDto>(
    `/v1/crm/contacts/${contactId}/timeline?${query.toString()}`,
  );
  expect(status).toBe(200);
  return body;
}

/** A page to which all sources have contributed: a busy machine may keep one waiting beyond its time. */
async function wholePage(contactId: string, limit: number, cursor: string | null): Promise<TimelineDto> {
  for (let tries = 0; ; tries += 1) {
    const answer = await page(contactId, limit, cursor);
    if (answer.unreachable.length === 0 || tries === 10) return answer;
  }
}

/** The total order, written a second time: from the words of the specification. */
function inOrder(items: readonly TimelineItemDto[]): TimelineItemDto[] {
  const by = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
  return [...items].sort(
    (a, b) => by(b.occurred_at, a.occurred_at) || by(a.source, b.source) || by(b.id, a.id),
  );
}

function idsHeld(): string[] {
  return TYPES.flatMap((type) => crm.modules.items[type].map(({ id }) => id)).sort();
}

describe('a walk through a timeline', () => {
  it('is the sorted union of all sources, each item once, at every page size', async () => {
    await fc.assert(
      fc.asyncProperty(histories, sizes, fc.boolean(), async (history, limit, atOnce) => {
        const contactId = aHistory(history);
        crm.modules.atOnce = atOnce;
        cut([]);
        const walked: TimelineItemDto[] = [];
        let cursor: string | null = null;
        do {
          const { data, page: at, unreachable }: TimelineDto = await wholePage(contactId, limit, cursor);
          expect(unreachable).toEqual([]);
          expect(data.length).toBe(Math.min(limit, history.length - walked.length));
          walked.push(...data);
          cursor = at.next_cursor;
        } while (cursor);
        expect(walked).toEqual(inOrder(walked));
        expect(walked.map(({ id }) => id).sort()).toEqual(idsHeld());
      }),
      { numRuns: 40 },
    );
  }, 180_000);

  it('brings every item once though sources are unreachable at random moments', async () => {
    await fc.assert(
      fc.asyncProperty(histories, fc.integer({ min: 1, max: 7 }), outages, async (history, limit, plan) => {
        const contactId = aHistory(history);
        const walked: TimelineItemDto[] = [];
        let cursor: string | null = null;
        for (let at = 0; ; at += 1) {
          cut(plan[at] ?? []);
          const { data, page: end, unreachable }: TimelineDto = await page(contactId, limit, cursor);
          expect(data).toEqual(inOrder(data));
          if (end.next_cursor === null && unreachable.length > 0) continue; // the same cursor completes the page later
          walked.push(...data);
          cursor = end.next_cursor;
          if (cursor === null) break;
        }
        expect(walked.map(({ id }) => id).sort()).toEqual(idsHeld());
      }),
      { numRuns: 40 },
    );
  }, 180_000);

  it('brings what was there all along once, and in order, though more is added all the time', async () => {
    await fc.assert(
      fc.asyncProperty(
        histories,
        fc.integer({ min: 1, max: 5 }),
        histories,
        async (history, limit, additions) => {
          const contactId = aHistory(history);
          cut([]);
          const present = new Set(idsHeld());
          const walked: TimelineItemDto[] = [];
          let cursor: string | null = null;
          const waiting = [...additions];
          do {
            const { data, page: at }: TimelineDto = await wholePage(contactId, limit, cursor);
            walked.push(...data);
            cursor = at.next_cursor;
            for (const { type, second } of waiting.splice(0, 2)) {
              crm.modules.items[type].push(
                anItem(type, contactId, `2026-11-21T09:00:0${String(second)}.000Z`),
              );
            }
          } while (cursor);
          expect(walked).toEqual(inOrder(walked));
          const ids = walked.map(({ id }) => id);
          expect(new Set(ids).size).toBe(ids.length);
          expect(ids.filter((id) => present.has(id)).sort()).toEqual([...present].sort());
        },
      ),
      { numRuns: 25 },
    );
  }, 180_000);

  it('ends even if a source claims more than it ever shows', async () => {
    const contactId = aHistory([{ type: 'event', second: 1 }]);
    crm.modules.behaviour.send = { text: '{"data": [], "page": {"next_cursor": "always"}}' };
    const { data, page: at } = await page(contactId, 10, null);
    expect(data).toHaveLength(1);
    expect(at.next_cursor).toBeNull();
  });

  it('ends on a page of nothing, whatever a source claims to have left', () => {
    const [fragment] = FRAGMENTS as [Fragment];
    const answer = { kind: 'page', page: { items: [], more: true } } as const;
    expect(step(walkFromStart(), new Map([[fragment, answer]]), 10)).toEqual({ items: [] });
  });

  it('goes on where a missing source was cut off: a later page brings what was missed', async () => {
    const contactId = aHistory(
      Array.from({ length: 9 }, (_, at) => ({ type: 'event' as const, second: at % 3 })),
    );
    const send = anItem('send', contactId, '2026-11-21T09:00:09.000Z');
    crm.modules.items.send.push(send);
    cut(['send']);
    const first = await page(contactId, 4, null);
    expect(first.unreachable).toEqual(['messaging']);
    expect(first.data.map(({ type }) => type)).toEqual(['event', 'event', 'event', 'event']);
    cut([]);
    const second = await wholePage(contactId, 4, first.page.next_cursor);
    expect(second.data[0]?.id).toBe(send.id);
    // And the first page, asked for again, is complete now.
    expect((await wholePage(contactId, 4, null)).data[0]?.id).toBe(send.id);
  });

  it('asks a source that is through no more', async () => {
    const events = Array.from({ length: 6 }, () => ({ type: 'event' as const, second: 1 }));
    const contactId = aHistory([...events, { type: 'send', second: 4 }]);
    cut([]);
    const first = await wholePage(contactId, 3, null);
    crm.modules.received.length = 0;
    await page(contactId, 3, first.page.next_cursor);
    expect(crm.modules.askedFor()).toEqual(['event']);
  });
});

describe('a cursor', () => {
  async function aCursor(query = ''): Promise<{ contactId: string; cursor: string }> {
    const contactId = aHistory(
      Array.from({ length: 5 }, (_, at) => ({ type: TYPES[at % 4] ?? 'event', second: at })),
    );
    const { body } = await caller.get<TimelineDto>(`/v1/crm/contacts/${contactId}/timeline?limit=2${query}`);
    const { next_cursor: cursor } = body.page;
    if (!cursor) throw new Error('the walk has ended');
    return { contactId, cursor };
  }

  async function refusal(contactId: string, query: string, as = caller): Promise<string> {
    const { status, body } = await as.get<{ code: string }>(
      `/v1/crm/contacts/${contactId}/timeline?${query}`,
    );
    expect(status).toBe(400);
    return body.code;
  }

  it('with another page size goes on', async () => {
    const { contactId, cursor } = await aCursor();
    const { data } = await wholePage(contactId, 50, cursor);
    expect(data).toHaveLength(3);
  });

  it('altered anywhere is refused', async () => {
    const { contactId, cursor } = await aCursor();
    for (let at = 0; at < cursor.length; at += 7) {
      const letter = cursor[at] === 'A' ? 'B' : 'A';
      const altered = cursor.slice(0, at) + letter + cursor.slice(at + 1);
      expect(await refusal(contactId, `cursor=${altered}`)).toBe('invalid_cursor');
    }
  });

  it('with other filters is a mismatch', async () => {
    const { contactId, cursor } = await aCursor('&type[in]=event,send,consent,transaction');
    expect(await refusal(contactId, `cursor=${cursor}`)).toBe('cursor_mismatch');
    expect(await refusal(contactId, `cursor=${cursor}&type[in]=event`)).toBe('cursor_mismatch');
  });

  it('of another contact is a mismatch, known or not', async () => {
    const { cursor } = await aCursor();
    const other = crm.aContact(organizationId).id;
    expect(await refusal(other, `cursor=${cursor}`)).toBe('cursor_mismatch');
  });

  it('of another organization is none', async () => {
    const { cursor } = await aCursor();
    const elsewhere = newId();
    const stranger = crm.app.as(elsewhere, ['crm.timeline.read']);
    expect(await refusal(crm.aContact(elsewhere).id, `cursor=${cursor}`, stranger)).toBe('invalid_cursor');
  });

  it('does not show where it points', async () => {
    const { contactId, cursor } = await aCursor();
    const readable = Buffer.from(cursor, 'base64url').toString('latin1');
    expect(readable).not.toContain(contactId);
    expect(readable).not.toContain('2026-11-21');
  });
});
