import { newId } from '@customer-platform/database';
import { RecordProducer } from '@customer-platform/event-bus';
import type { DomainEvent } from '@customer-platform/events';
import { type Caller, contactChange, domainEvent, eventually, proofBy } from '@customer-platform/testing';
import { startCrm, type TestCrm } from '../crm.fixture.js';
import { ContactRefsConsumer } from './contact-refs.consumer.js';

let crm: TestCrm;

beforeAll(async () => {
  crm = await startCrm({ events: true });
});
afterAll(() => crm.close());
beforeEach(() => {
  crm.modules.reset();
});

const timeline = (contactId: string, query = ''): string => `/v1/crm/contacts/${contactId}/timeline${query}`;

function aReader(organizationId = newId()): { organizationId: string; caller: Caller } {
  return { organizationId, caller: crm.app.as(organizationId, ['crm.timeline.read', 'core.events.read']) };
}

function refsOf(organizationId: string): Promise<Record<string, unknown>[]> {
  return crm.database.query(
    'SELECT id, state, merged_into, version FROM contact_refs WHERE organization_id = $1 ORDER BY id',
    [organizationId],
  );
}

function publish(...events: DomainEvent[]): Promise<void[]> {
  const producer = crm.app.app.get(RecordProducer);
  return Promise.all(
    events.map((each) => {
      const topic = 'core.domain-events';
      const record = { key: each.subject, value: JSON.stringify(each) };
      return producer.send(topic, { ...record, headers: proofBy('core', { topic, ...record }) });
    }),
  );
}

describe('a contact in a path', () => {
  it('not known here yet: core is asked, once', async () => {
    const { organizationId, caller } = aReader();
    const { id } = crm.aContact(organizationId);
    expect((await caller.get(timeline(id))).status).toBe(200);
    expect((await caller.get(timeline(id))).status).toBe(200);
    expect(crm.modules.lookups).toEqual([{ ids: [id] }]);
    expect(await refsOf(organizationId)).toEqual([{ id, state: 'active', merged_into: null, version: 1 }]);
  });

  it('not known, and core is silent: 503, nothing written, nobody else asked', async () => {
    const { organizationId, caller } = aReader();
    const { id } = crm.aContact(organizationId);
    crm.modules.lookup = 'hangs up';
    const { status, body, headers } = await caller.get<{ code: string }>(timeline(id));
    expect({ status, code: body.code }).toEqual({ status: 503, code: 'dependency_unavailable' });
    expect(headers.get('retry-after')).not.toBeNull();
    expect(await refsOf(organizationId)).toEqual([]);
    expect(crm.modules.received).toHaveLength(0);
  });

  it('soft-deleted: 200', async () => {
    const { organizationId, caller } = aReader();
    const { id } = crm.aContact(organizationId, { state: 'deleted' });
    expect((await caller.get(timeline(id))).status).toBe(200);
  });

  it('foreign, erased or never there: the same 404, the same body', async () => {
    const { organizationId, caller } = aReader();
    const foreign = crm.aContact(newId()).id;
    const erased = crm.aContact(organizationId, { state: 'erased' }).id;
    const answers = await Promise.all(
      [foreign, erased, newId()].map((id) => caller.get<Record<string, string>>(timeline(id))),
    );
    const bodies = answers.map(({ status, body }) => {
      const { instance, correlation_id: correlationId, ...rest } = body;
      expect(instance).toMatch(/^\/v1\/crm\/contacts\//);
      expect(correlationId).toBeDefined();
      return { status, rest };
    });
    expect(bodies[0]).toMatchObject({ status: 404, rest: { code: 'not_found' } });
    expect(bodies[1]).toEqual(bodies[0]);
    expect(bodies[2]).toEqual(bodies[0]);
    expect(crm.modules.received).toHaveLength(0);
  });

  it('no UUID: 400', async () => {
    const { status, body } = await aReader().caller.get<{ code: string }>(timeline('12'));
    expect({ status, code: body.code }).toEqual({ status: 400, code: 'invalid_id' });
  });

  it('merged: 307 to the survivor at the end of the chain, the query kept, not to be remembered', async () => {
    const { organizationId, caller } = aReader();
    const last = crm.aContact(organizationId).id;
    const middle = crm.aContact(organizationId, { state: 'merged', merged_into: last, version: 4 }).id;
    const first = crm.aContact(organizationId, { state: 'merged', merged_into: middle, version: 4 }).id;
    const query = '?limit=3&occurred_at[gte]=2026-11-21T10:00:00%2B01:00&type[in]=event,send';
    const { status, headers } = await caller.get(timeline(first, query));
    expect(status).toBe(307);
    expect(headers.get('location')).toBe(timeline(last, query));
    expect(headers.get('cache-control')).toBe('no-store');
    expect((await caller.get(timeline(first))).headers.get('location')).toBe(timeline(last));
  });

  it('merged into one that was erased: 404', async () => {
    const { organizationId, caller } = aReader();
    const gone = crm.aContact(organizationId, { state: 'erased' }).id;
    const { id } = crm.aContact(organizationId, { state: 'merged', merged_into: gone });
    expect((await caller.get(timeline(id))).status).toBe(404);
  });

  it('merged in the middle of a walk: the cursor goes on over the survivor', async () => {
    const { organizationId, caller } = aReader();
    const survivor = crm.aContact(organizationId).id;
    const merged = crm.aContact(organizationId).id;
    await caller.get(timeline(survivor));
    for (const contactId of [survivor, merged]) {
      for (let second = 0; second < 4; second += 1) {
        crm.modules.items.event.push({
          id: newId(),
          contact_id: contactId,
          correlation_id: null,
          event: `of ${contactId}`,
          occurred_at: `2026-11-21T09:00:0${String(second)}.000Z`,
        });
      }
    }
    const first = await caller.get<{ data: unknown[]; page: { next_cursor: string } }>(
      timeline(merged, '?limit=2'),
    );
    const cursor = first.body.page.next_cursor;
    // Core moves the events, then tells of the merge.
    for (const item of crm.modules.items.event) item.contact_id = survivor;
    await publish(
      domainEvent('core.contact.merged.v1', organizationId, {
        merge_id: newId(),
        survivor_id: survivor,
        merged_id: merged,
        survivor_version: 2,
        merged_version: 2,
      }),
    );
    const query = `?limit=50&cursor=${cursor}`;
    const sent = await eventually(async () => {
      const answer = await caller.get(timeline(merged, query));
      expect(answer.status).toBe(307);
      return answer.headers.get('location');
    });
    const { status, body } = await caller.get<{ data: { occurred_at: string }[] }>(sent ?? '');
    expect(status).toBe(200);
    // The two newest of the merged contact were shown; at their times and before, everything else comes.
    expect(body.data.length).toBeGreaterThanOrEqual(4);
    expect(body.data.every(({ occurred_at: time }) => time <= '2026-11-21T09:00:02.000Z')).toBe(true);
  });
});

describe('following core’s events', () => {
  it('a contact is created, deleted, restored, merged, unmerged and erased', async () => {
    const { organizationId, caller } = aReader();
    const [id, other] = [newId(), newId()];
    const expectState = (state: string, version: number, mergedInto: string | null = null): Promise<void> =>
      eventually(async () => {
        const rows = await refsOf(organizationId);
        expect(rows.find((row) => row['id'] === id)).toEqual({ id, state, merged_into: mergedInto, version });
      });
    const merge = { merge_id: newId(), survivor_id: other, merged_id: id, survivor_version: 2 };
    await publish(domainEvent('core.contact.created.v1', organizationId, contactChange(id, 1)));
    await expectState('active', 1);
    await publish(domainEvent('core.contact.deleted.v1', organizationId, contactChange(id, 2, 'deleted')));
    await expectState('deleted', 2);
    expect((await caller.get(timeline(id))).status).toBe(200);
    await publish(domainEvent('core.contact.restored.v1', organizationId, contactChange(id, 3)));
    await expectState('active', 3);
    await publish(domainEvent('core.contact.merged.v1', organizationId, { ...merge, merged_version: 4 }));
    await expectState('merged', 4, other);
    expect((await caller.get(timeline(id))).status).toBe(307);
    await publish(
      domainEvent('core.contact.unmerged.v1', organizationId, {
        ...merge,
        merged_version: 5,
        survivor_version: 3,
      }),
    );
    await expectState('active', 5);
    const end = { contact_id: id, version: 6, changed_fields: [], contact: null };
    await publish(domainEvent('core.contact.erased.v1', organizationId, end));
    await expectState('erased', 6);
    expect((await caller.get(timeline(id))).status).toBe(404);
    expect(crm.modules.lookups).toEqual([]);
  });

  it('an event of a contact that was purged does not bring it back', async () => {
    const { organizationId, caller } = aReader();
    const id = newId();
    const end = { contact_id: id, version: 9, changed_fields: [], contact: null };
    const consumer = crm.app.app.get(ContactRefsConsumer);
    await consumer.follow([domainEvent('core.contact.purged.v1', organizationId, end)]);
    await consumer.follow([domainEvent('core.contact.updated.v1', organizationId, contactChange(id, 8))]);
    expect((await caller.get(timeline(id))).status).toBe(404);
    expect(crm.modules.lookups).toEqual([]);
  });
});
