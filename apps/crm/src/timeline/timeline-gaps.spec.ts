import { newId } from '@customer-platform/database';
import type { Permission } from '@customer-platform/permissions';
import type { Caller } from '@customer-platform/testing';
import { anItem, startCrm, type TestCrm } from '../crm.fixture.js';
import type { TimelineDto } from './timeline.dto.js';

const UNTIL = '2026-11-20T00:00:00.000Z';
const SENDS: Permission[] = ['crm.timeline.read', 'messaging.sends.read'];
const GAPS = [{ source: 'core', type: 'event', reason: 'retention', until: UNTIL }];

let crm: TestCrm;
beforeAll(async () => {
  crm = await startCrm();
});
afterAll(() => crm.close());
beforeEach(() => {
  crm.modules.reset();
  crm.modules.removedUntil.event = UNTIL;
});

/** A contact whom something was sent after an event, and two events before that. */
function aContact(permissions: readonly Permission[] = [...SENDS, 'core.events.read']) {
  const organizationId = newId();
  const { id } = crm.aContact(organizationId);
  const caller = crm.app.as(organizationId, permissions);
  const { event, send } = crm.modules.items;
  event.push(
    anItem('event', id, '2026-11-21T09:00:00.000Z'),
    anItem('event', id, '2026-11-21T09:01:00.000Z'),
  );
  send.push(anItem('send', id, '2026-11-21T08:00:00.000Z'), anItem('send', id, '2026-11-21T09:02:00.000Z'));
  return { id, caller };
}

const read = async (caller: Caller, id: string, query = ''): Promise<TimelineDto> =>
  (await caller.get<TimelineDto>(`/v1/crm/contacts/${id}/timeline${query}`)).body;

describe('what a source has removed', () => {
  it('is said once, on the page on which its items end', async () => {
    const { id, caller } = aContact();
    expect((await read(caller, id)).gaps).toEqual(GAPS);
    const walked: unknown[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const page: TimelineDto = await read(
        caller,
        id,
        cursor === '' ? '?limit=1' : `?limit=1&cursor=${cursor}`,
      );
      walked.push({ types: page.data.map(({ type }) => type), gaps: page.gaps });
      cursor = page.page.next_cursor;
    }
    expect(walked).toEqual([
      { types: ['send'], gaps: [] },
      { types: ['event'], gaps: [] },
      { types: ['event'], gaps: GAPS },
      { types: ['send'], gaps: [] },
    ]);
  });

  it('is said where nothing is left, and not to who may not see it', async () => {
    const { id, caller } = aContact();
    crm.modules.items.event.length = 0;
    expect((await read(caller, id, '?type=event')).gaps).toEqual(GAPS);
    const other = aContact(SENDS);
    expect((await read(other.caller, other.id)).gaps).toEqual([]);
  });

  it('makes a source unreachable that does not say until when', async () => {
    const { id, caller } = aContact();
    crm.modules.removedUntil.event = 'long ago';
    expect(await read(caller, id)).toMatchObject({ unreachable: ['core'], gaps: [] });
  });
});
