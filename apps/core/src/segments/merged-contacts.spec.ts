import { expectStatus, type Caller } from '@customer-platform/testing';
import { SegmentWorld } from './segment.fixture.js';

const MINUTE = 60_000;
const CONTACTS = '/v1/core/contacts';

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

const paid = (times: number) => ({ event: 'invoice_paid', count: { op: 'gte', value: times } });

async function contact(externalId: string, more: object = {}): Promise<string> {
  const answer = await caller.post<{ id: string }>(CONTACTS, { external_id: externalId, ...more });
  expectStatus(answer, 201);
  await world.evaluate();
  return answer.body.id;
}

async function merges(body: object): Promise<string> {
  world.pass(1_000);
  const answer = await caller.post<{ merge_id: string }>(`${CONTACTS}/merge`, body);
  expectStatus(answer, 200);
  await world.evaluate();
  return answer.body.merge_id;
}

const happens = (...externalIds: string[]): Promise<void> => {
  world.pass(MINUTE);
  return world.happen(id, ...externalIds.map((externalId) => ({ externalId, at: world.now() })));
};

describe('segments of merged contacts', () => {
  it('count the events of both, and of each alone after an undo, those that came in between too', async () => {
    const [a, b] = [await contact('a'), await contact('b')];
    const twice = await world.segment(caller, paid(2));
    const thrice = await world.segment(caller, paid(3));
    await happens('a', 'b');
    expect(await world.inside(caller, twice)).toEqual([]);
    const mergeId = await merges({ survivor_id: a, merged_id: b });
    expect(await world.inside(caller, twice)).toEqual(['a']);
    await happens('b');
    expect(await world.inside(caller, thrice)).toEqual(['a']);
    await merges({ undo_merge_id: mergeId });
    expect([await world.inside(caller, twice), await world.inside(caller, thrice)]).toEqual([['b'], []]);
    await happens('b');
    expect([await world.inside(caller, twice), await world.inside(caller, thrice)]).toEqual([['b'], ['b']]);
    const causes = (await world.told(id))
      .filter((told) => told.startsWith('entered'))
      .map((told) => told.split(' ')[2]);
    expect(causes).toEqual(['merge', 'event', 'merge', 'event']);
  });

  it('built while contacts are merged hold what holds once they part', async () => {
    const [a, b] = [await contact('a'), await contact('b')];
    await happens('a', 'b', 'b');
    const mergeId = await merges({ survivor_id: a, merged_id: b });
    const segment = await world.segment(caller, paid(2));
    expect(await world.inside(caller, segment)).toEqual(['a']);
    await merges({ undo_merge_id: mergeId });
    expect(await world.inside(caller, segment)).toEqual(['b']);
  });

  it('follow the values and consents that a merge brings, without a cause that tells anybody', async () => {
    const granted = {
      purpose: 'marketing',
      channel: 'email',
      status: 'granted',
      notice_version: '1',
      method: 'form',
    };
    const [a, b] = [
      await contact('a', { country: 'PE' }),
      await contact('b', { country: null, attributes: { plan: 'gold' } }),
    ];
    for (const path of [a, b]) expectStatus(await caller.post(`${CONTACTS}/${path}/consents`, granted), 201);
    await world.evaluate();
    const gold = await world.segment(caller, { attribute: 'attributes.plan', op: 'eq', value: 'gold' });
    const agreed = await world.segment(caller, {
      consent: { purpose: 'marketing', channel: 'email' },
      status: 'granted',
    });
    world.pass(MINUTE);
    const withdrawn = { purpose: 'marketing', channel: 'email', status: 'withdrawn' };
    expectStatus(await caller.post(`${CONTACTS}/${b}/consents`, withdrawn), 201);
    await world.evaluate();
    expect([await world.inside(caller, gold), await world.inside(caller, agreed)]).toEqual([['b'], ['a']]);
    const before = (await world.told(id)).length;
    const mergeId = await merges({ survivor_id: a, merged_id: b });
    expect([await world.inside(caller, gold), await world.inside(caller, agreed)]).toEqual([['a'], []]);
    await merges({ undo_merge_id: mergeId });
    expect([await world.inside(caller, gold), await world.inside(caller, agreed)]).toEqual([['b'], ['a']]);
    const told = (await world.told(id)).slice(before);
    expect(new Set(told.map((each) => each.split(' ')[2]))).toEqual(new Set(['merge']));
  });
});
