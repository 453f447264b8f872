import { newId } from '@customer-platform/database';
import { expectStatus } from '@customer-platform/testing';
import { SegmentWorld } from './segment.fixture.js';

const MINUTE = 60_000;
const CONTACTS = '/v1/core/contacts';

let world: SegmentWorld;
beforeAll(async () => {
  world = await SegmentWorld.start();
}, 60_000);
afterAll(() => world.close());

describe('GET /v1/core/contacts?segment_id', () => {
  it('shows who is in a segment, or in one of several, in any order and with other filters', async () => {
    const { id, caller } = world.anOrganization();
    world.stopClock('2026-06-15T12:00:00.000Z');
    const payers = await world.segment(caller, { event: 'invoice_paid', within: 'PT1H' });
    const pros = await world.segment(caller, { attribute: 'attributes.plan', op: 'eq', value: 'pro' });
    for (const externalId of ['ana', 'bea']) await world.happen(id, { externalId, at: world.now(-MINUTE) });
    for (const externalId of ['bea', 'eva'])
      await world.happen(id, { externalId, at: world.now(), traits: { plan: 'pro' } });
    const found = async (query: string) => {
      const answer = await caller.get<{ data: { external_id: string }[] }>(`${CONTACTS}?${query}`);
      expectStatus(answer, 200);
      return answer.body.data.map(({ external_id: externalId }) => externalId).sort();
    };
    expect(await found(`segment_id=${payers.id}`)).toEqual(['ana', 'bea']);
    expect(await found(`segment_id[in]=${payers.id},${pros.id}&sort=-last_seen_at`)).toEqual([
      'ana',
      'bea',
      'eva',
    ]);
    expect(await found(`segment_id=${payers.id}&segment_id[in]=${pros.id}`)).toEqual(['bea']);
    expect(await found(`segment_id=${payers.id}&external_id=ana&limit=1`)).toEqual(['ana']);
    expect(await found(`segment_id=${newId()}`)).toEqual([]);
    world.pass(60 * MINUTE);
    await world.evaluate();
    expect(await found(`segment_id=${payers.id}`)).toEqual([]);
    expectStatus(await caller.get(`${CONTACTS}?segment_id=payers`), 400);
    expectStatus(await caller.get(`${CONTACTS}?segment_id[ne]=${payers.id}`), 400);
  });
});
