import { setTimeout as pause } from 'node:timers/promises';
import { newId } from '@customer-platform/database';
import { expectStatus, type Caller } from '@customer-platform/testing';
import { SEGMENTS, SegmentWorld } from './segment.fixture.js';
import type { SegmentDto } from './segment.dto.js';

let world: SegmentWorld;
let id: string;
let caller: Caller;
beforeAll(async () => {
  world = await SegmentWorld.start();
}, 60_000);
beforeEach(() => {
  ({ id, caller } = world.anOrganization());
});
afterAll(() => world.close());

const paid = (amount: number) => ({
  event: 'invoice_paid',
  where: [{ property: 'amount', op: 'gte', value: amount }],
});

/** Many contacts, each with three events of amounts 0, 1 and 2 at different times, stored long ago. */
async function past(contacts: number): Promise<void> {
  await world.core.database.query(
    `INSERT INTO contacts (organization_id, id, external_id, source)
     SELECT $1, gen_random_uuid(), 'person-' || n, 'track' FROM generate_series(1, $2::int) AS n`,
    [id, contacts],
  );
  await world.core.database.query(
    `INSERT INTO events (organization_id, id, type, event, external_id, contact_id, idempotency_key, occurred_at,
       received_at, payload, source, fingerprint)
     SELECT $1, gen_random_uuid(), 'track', 'invoice_paid', external_id, id, external_id || ' ' || amount,
            now() - random() * interval '9 days' - interval '1 hour', now(), jsonb_build_object('amount', amount),
            'api', gen_random_uuid()
       FROM contacts, generate_series(0, 2) AS amount WHERE organization_id = $1`,
    [id],
  );
}

async function created(rule: object): Promise<SegmentDto> {
  const answer = await caller.post<SegmentDto>(SEGMENTS, { name: newId(), rule });
  expectStatus(answer, 201);
  return answer.body;
}

describe('a new segment', () => {
  it('is right for all that was before it, piece by piece, for the silent cause `rule_change`', async () => {
    await past(1_300);
    const segment = await created({
      all: [paid(2), { event: 'invoice_paid', count: { op: 'eq', value: 3 } }],
    });
    expect(segment.state).toBe('building');
    const seen = new Set<string>();
    for (let turns = 0; (await world.turn(id)) && turns < 50; turns += 1) {
      seen.add((await world.read(caller, segment.id)).state);
    }
    expect([...seen]).toEqual(['building', 'ready']);
    expect(await world.read(caller, segment.id)).toMatchObject({ member_count: 1_300 });
    const [member] = await world.members(caller, segment, '?limit=1');
    expect(member?.cause).toBe('rule_change');
    expect(await world.count('segment_members', id)).toBe(1_300);
  });

  it('goes through the contacts once with all that come to be together, whatever comes between', async () => {
    await past(1_100);
    const segments = [];
    for (let number = 0; number < 8; number += 1) segments.push(await created(paid(number % 3)));
    const [first, second] = segments;
    const halfWay = `SELECT 1 FROM segment_builds WHERE organization_id = $1 AND cursor_id IS NOT NULL`;
    let turns = 0;
    for (; (await world.turn(id)) && turns < 60; turns += 1) {
      if (segments.length > 8 || (await world.core.database.query(halfWay, [id])).length < 8) continue;
      expectStatus(await caller.patch(`${SEGMENTS}/${first?.id ?? ''}`, { rule: paid(2) }), 200);
      expectStatus(await caller.delete(`${SEGMENTS}/${second?.id ?? ''}`), 204);
      segments.push(await created({ not: paid(1) }));
    }
    // Eight by themselves would take three turns each to go through the contacts alone.
    expect(turns).toBeLessThan(24);
    const counts = [];
    for (const { id: each } of segments.filter((segment) => segment !== second)) {
      counts.push((await world.read(caller, each)).member_count);
    }
    expect(counts).toEqual([1_100, 1_100, 1_100, 1_100, 1_100, 1_100, 1_100, 0]);
    expect(await world.count('segment_builds', id)).toBe(0);
  });

  it('goes on where it was when its process is killed in the middle of it', async () => {
    await past(1_100);
    const segment = await created(paid(1));
    for (let turns = 0; turns < 6; turns += 1) {
      await world.killedTurn(id);
      await world.turn(id);
    }
    await world.evaluate();
    expect(await world.read(caller, segment.id)).toMatchObject({ state: 'ready', member_count: 1_100 });
    expect(await world.count('segment_members', id)).toBe(1_100);
    expect(await world.count('segment_matches', id)).toBe(2_200);
  });

  it('misses no event that is stored while it comes to be, and takes none twice', async () => {
    await past(300);
    const storing = Array.from({ length: 20 }, async (_, at) => {
      await pause(at * 15);
      await world.store(
        id,
        Array.from({ length: 10 }, (__, one) => ({
          externalId: `new-${at}-${one}`,
          at: world.now(-at),
          properties: { amount: 5 },
        })),
      );
    });
    const segments = [];
    for (const amount of [3, 4]) {
      segments.push(await created(paid(amount)));
      await world.turn(id);
      await pause(60);
    }
    await Promise.all([...storing, world.evaluate()]);
    await world.evaluate();
    for (const segment of segments) {
      expect(await world.read(caller, segment.id)).toMatchObject({ state: 'ready', member_count: 200 });
    }
    expect(await world.count('segment_matches', id)).toBe(400);
  });

  it('evaluates by the last of several rules, whichever it had got to', async () => {
    await past(700);
    const { id: segment } = await created(paid(0));
    for (let turns = 0; turns < 4; turns += 1) await world.turn(id);
    expect((await world.read(caller, segment)).member_count).toBeGreaterThan(0);
    const changed = await caller.patch<SegmentDto>(`${SEGMENTS}/${segment}`, { rule: paid(9) });
    expect(changed.body).toMatchObject({ state: 'building', rule_version: 2 });
    await world.evaluate();
    expect(await world.read(caller, segment)).toMatchObject({ state: 'ready', member_count: 0 });
    const [left] = await world.members(caller, { id: segment }, '?status=left&limit=1');
    expect(left?.left_cause).toBe('rule_change');
  });

  it('while it is gone through, whoever enters does so because of the rule', async () => {
    await past(600);
    const segment = await created({ any: [paid(9), paid(2)] });
    for (let turns = 0; turns < 3; turns += 1) await world.turn(id);
    expect((await world.read(caller, segment.id)).state).toBe('building');
    await world.store(id, [{ externalId: 'newcomer', at: world.now(), properties: { amount: 9 } }]);
    await world.evaluate();
    const causes = await world.core.database.query<{ cause: string }>(
      'SELECT DISTINCT cause FROM segment_members WHERE organization_id = $1',
      [id],
    );
    expect(causes).toEqual([{ cause: 'rule_change' }]);
    expect((await world.read(caller, segment.id)).member_count).toBe(601);
  });
});

describe('segments that ask the same', () => {
  it('share what is kept of events; it goes with the last of them', async () => {
    await past(10);
    const one = await created({ ...paid(1), within: 'P30D' });
    const two = await created({ not: { ...paid(1), count: { op: 'gte', value: 2 } } });
    await world.evaluate();
    expect(await world.count('segment_conditions', id)).toBe(1);
    expect(await world.count('segment_matches', id)).toBe(20);
    await caller.delete(`${SEGMENTS}/${one.id}`);
    await world.evaluate();
    expect(await world.count('segment_matches', id)).toBe(20);
    await caller.delete(`${SEGMENTS}/${two.id}`);
    await world.evaluate();
    expect([await world.count('segment_conditions', id), await world.count('segment_matches', id)]).toEqual([
      0, 0,
    ]);
  });
});

describe('several evaluators at once', () => {
  it('move every contact once, through events, builds and ends of windows', async () => {
    world.stopClock('2026-06-15T12:00:00.000Z');
    const other = world.anotherEvaluator();
    const segment = await created({ event: 'invoice_paid', within: 'PT1M' });
    const contacts = Array.from({ length: 300 }, (_, at) => `person-${at}`);
    for (const part of [0, 100, 200]) {
      const given = contacts
        .slice(part, part + 100)
        .map((externalId) => ({ externalId, at: world.now(-59_000) }));
      await Promise.all([world.store(id, given), world.evaluate(), other.runAll()]);
    }
    await Promise.all([world.evaluate(), other.runAll(), world.evaluate(), other.runAll()]);
    expect(await world.read(caller, segment.id)).toMatchObject({ state: 'ready' });
    world.pass(1_200);
    await Promise.all([world.evaluate(), other.runAll()]);
    await world.evaluate();
    expect(await world.read(caller, segment.id)).toMatchObject({ member_count: 0 });
    const told = await world.told(id);
    expect(new Set(told.map((text) => text.split(' ').slice(0, 2).join(' '))).size).toBe(told.length);
    expect(told).toHaveLength(2 * (await world.count('segment_members', id)));
  });
});

describe('a contact that cannot be evaluated', () => {
  it.each([
    ['is refused', 'P0001'],
    ['always runs out of time', '57014'],
  ])(
    'and %s holds back nobody; its event becomes a dead letter of the stage `segments`, and is run again from there',
    async (_, code) => {
      world.stopClock('2026-06-15T12:00:00.000Z');
      const segment = await created({ event: 'invoice_paid' });
      await world.evaluate();
      const at = world.now();
      await world.store(id, [
        { externalId: 'good', at },
        { externalId: 'bad', at, key: 'bad' },
      ]);
      const stop = await world.refuseMember(id, 'bad', code);
      for (let tries = 0; tries < 4; tries += 1) {
        await Promise.allSettled([world.evaluate()]);
        world.pass(60_000);
      }
      expect(await world.inside(caller, segment)).toEqual(['good']);
      const letters = async () =>
        (await caller.get<{ data: { id: string; state: string }[] }>('/v1/core/dead-letters?stage=segments'))
          .body.data;
      const [letter] = await letters();
      expect(letter).toMatchObject({
        state: 'pending',
        code: 'internal_error',
        external_id: 'bad',
        attempts: 3,
      });
      await stop();
      expectStatus(await caller.post(`/v1/core/dead-letters/${letter?.id ?? ''}/replay`), 202);
      await world.replay();
      await world.evaluate();
      expect(await letters()).toMatchObject([{ state: 'replayed' }]);
      expect(await world.inside(caller, segment)).toEqual(['bad', 'good']);
      world.stopClock();
    },
  );
});
