import { expectStatus, type Caller } from '@customer-platform/testing';
import { SEGMENTS, SegmentWorld } from './segment.fixture.js';
import type { SegmentDto } from './segment.dto.js';

const MINUTE = 60_000;

let world: SegmentWorld;
let id: string;
let caller: Caller;
beforeAll(async () => {
  world = await SegmentWorld.start();
}, 60_000);
beforeEach(() => {
  ({ id, caller } = world.anOrganization());
  world.stopClock('2026-06-15T12:00:00.000Z');
});
afterEach(() => world.stopClock());
afterAll(() => world.close());

const paid = (rest: object = {}) => ({ event: 'invoice_paid', ...rest });
const plan = (value: string) => ({ attribute: 'attributes.plan', op: 'eq', value });

describe('a segment that is deleted', () => {
  async function subscriber(externalId: string): Promise<string> {
    const body = { external_id: externalId, attributes: { plan: 'pro' } };
    const answer = await caller.post<{ id: string }>('/v1/core/contacts', body);
    expectStatus(answer, 201);
    return answer.body.id;
  }

  it('is not followed, and is right again once it is restored', async () => {
    const segment = await world.segment(caller, paid({ within: 'PT1H' }));
    const other = await world.segment(caller, paid({ count: { op: 'gte', value: 2 } }));
    await world.happen(id, { externalId: 'ana', at: world.now() });
    expectStatus(await caller.delete(`${SEGMENTS}/${segment.id}`), 204);
    world.pass(60 * MINUTE);
    await world.happen(id, { externalId: 'bea', at: world.now() });
    expect(await world.inside(caller, segment)).toEqual(['ana']);
    const restored = await caller.post<SegmentDto>(`${SEGMENTS}/${segment.id}/restore`);
    expect(restored.body).toMatchObject({ state: 'building', rule_version: 1 });
    await world.evaluate();
    expect(await world.members(caller, segment)).toMatchObject([{ external_id: 'bea', cause: 'restore' }]);
    expect(await world.read(caller, segment.id)).toMatchObject({ state: 'ready', member_count: 1 });
    expect(await world.inside(caller, other)).toEqual([]);
  });

  it('keeps nothing of who is purged meanwhile, and has nobody of them once it is restored', async () => {
    const segment = await world.segment(caller, plan('pro'));
    const [ana, bea] = await Promise.all(['ana', 'bea'].map(subscriber));
    await world.evaluate();
    expectStatus(await caller.delete(`${SEGMENTS}/${segment.id}`), 204);
    expectStatus(await caller.delete(`/v1/core/contacts/${ana}`), 204);
    expectStatus(await caller.delete(`/v1/core/contacts/${ana}/purge`), 204);
    await world.evaluate();
    expect(await world.count('segment_members', id)).toBe(1);
    expectStatus(await caller.post(`${SEGMENTS}/${segment.id}/restore`), 200);
    await world.evaluate();
    expect(await world.members(caller, segment)).toMatchObject([{ contact_id: bea }]);
    expect(await world.read(caller, segment.id)).toMatchObject({ state: 'ready', member_count: 1 });
  });

  it('is rid of who is no more once it is restored, though nobody has told of them', async () => {
    const segment = await world.segment(caller, plan('pro'));
    const [ana, bea] = await Promise.all(['ana', 'bea'].map(subscriber));
    await world.evaluate();
    expectStatus(await caller.delete(`${SEGMENTS}/${segment.id}`), 204);
    await world.core.database.query('DELETE FROM identities WHERE contact_id = $1', [ana]);
    await world.core.database.query('DELETE FROM contacts WHERE id = $1', [ana]);
    expectStatus(await caller.post(`${SEGMENTS}/${segment.id}/restore`), 200);
    await world.evaluate();
    expect(await world.members(caller, segment)).toMatchObject([{ contact_id: bea }]);
    expect(await world.read(caller, segment.id)).toMatchObject({ state: 'ready', member_count: 1 });
  });

  it('takes its members’ history with it when it is purged, and what nobody asks for any more is cleared away', async () => {
    const segment = await world.segment(caller, paid());
    await world.happen(id, { externalId: 'ana', at: world.now() });
    expectStatus(await caller.delete(`${SEGMENTS}/${segment.id}`), 204);
    expectStatus(await caller.delete(`${SEGMENTS}/${segment.id}/purge`), 204);
    await world.evaluate();
    for (const table of [
      'segment_members',
      'segment_removals',
      'segment_matches',
      'segment_conditions',
      'segment_builds',
    ])
      expect([table, await world.count(table, id)]).toEqual([table, 0]);
  });
});
