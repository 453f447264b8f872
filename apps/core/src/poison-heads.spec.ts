import { metrics } from '@customer-platform/http';
import { DatabaseFault, type Fault } from '@customer-platform/testing';
import { aConsentWorld, aGrant } from './people/consents/consent.fixture.js';
import { ConsentExpiry } from './people/consents/consent-expiry.js';
import { SEGMENTS, SegmentWorld, type Given } from './segments/segment.fixture.js';

const MINUTE_MS = 60_000;
const PAID = { event: 'invoice_paid', within: 'P30D' };

let world: SegmentWorld;
beforeAll(async () => {
  world = await SegmentWorld.start();
  world.stopClock(Date.now());
});
afterAll(() => world.close());

/** Makes Postgres refuse to change a row of this table, until the answer is called. */
async function poison(
  table: string,
  on: Fault['on'],
  when: string,
  instead?: string,
): Promise<() => Promise<void>> {
  const fault = await DatabaseFault.in(world.core.database, {
    table,
    on,
    when,
    ...(instead === undefined ? {} : { instead }),
  });
  return () => fault.mend();
}

const paid = (externalId: string): Given => ({
  externalId,
  event: 'invoice_paid',
  at: world.now(-MINUTE_MS),
});

describe('what cannot be done of an organization holds up no other', () => {
  it('in the evaluation of segments', async () => {
    const [first, second] = [world.anOrganization(), world.anOrganization()];
    const segments = [await world.segment(first.caller, PAID), await world.segment(second.caller, PAID)];
    const cure = await poison('segment_changes', 'DELETE', `OLD.organization_id = '${first.id}'`);
    try {
      await world.store(first.id, [paid('ana')]);
      await world.store(second.id, [paid('ben')]);
      await world.evaluate();
    } finally {
      await cure();
    }
    const inside = (): Promise<unknown> =>
      Promise.all([
        world.inside(first.caller, segments[0] as { id: string }),
        world.inside(second.caller, segments[1] as { id: string }),
      ]);
    expect(await inside()).toEqual([[], ['ben']]);
    await world.evaluate();
    expect(await inside()).toEqual([[], ['ben']]);
    world.pass(MINUTE_MS);
    await world.evaluate();
    expect(await inside()).toEqual([['ana'], ['ben']]);
  });

  it('in the building of a segment, which holds up no change of its own organization either', async () => {
    const { id, caller } = world.anOrganization();
    const built = await world.segment(caller, PAID);
    const cure = await poison('segment_builds', 'DELETE', `OLD.organization_id = '${id}'`);
    try {
      await caller.post(SEGMENTS, { name: 'Never built', rule: { event: 'signed_up', within: 'P30D' } });
      await world.happen(id, paid('ana'));
      expect(await world.inside(caller, built)).toEqual(['ana']);
    } finally {
      await cure();
    }
    const states = async (): Promise<unknown[]> =>
      (await caller.get<{ data: { state: string }[] }>(SEGMENTS)).body.data.map(({ state }) => state).sort();
    expect(await states()).toEqual(['building', 'ready']);
    world.pass(MINUTE_MS);
    await world.evaluate();
    expect(await states()).toEqual(['ready', 'ready']);
  });

  it('in the end of consents', async () => {
    const [first, second] = [await aConsentWorld(world.core), await aConsentWorld(world.core)];
    for (const [at, { caller, path }] of [first, second].entries()) {
      const grant = { occurred_at: world.now(-MINUTE_MS), expires_at: world.now(1_000 + at) };
      expect((await caller.post(path, aGrant(grant))).status).toBe(201);
    }
    world.pass(MINUTE_MS);
    const expiry = world.core.app.app.get(ConsentExpiry, { strict: false });
    const left = (): Promise<unknown[]> =>
      world.core.database.query(
        'SELECT organization_id FROM consent_expirations WHERE organization_id = ANY($1::uuid[])',
        [[first.organizationId, second.organizationId]],
      );
    const cure = await poison(
      'consent_expirations',
      'DELETE',
      `OLD.organization_id = '${first.organizationId}'`,
    );
    try {
      await expiry.runAll();
      expect(await left()).toEqual([{ organization_id: first.organizationId }]);
    } finally {
      await cure();
    }
    world.pass(MINUTE_MS);
    await expiry.runAll();
    expect(await left()).toEqual([]);
  });
});

describe('a dead letter that cannot be run again', () => {
  /** Two organizations with a letter each that are to be run again, the first before the second. */
  async function twoQueued() {
    const owners = [world.anOrganization(), world.anOrganization()] as const;
    const cure = await poison('events', 'INSERT', `NEW.event = 'poison'`);
    for (const { id } of owners) {
      await world.storeCarefully(id, [{ ...paid('ana'), event: 'poison' }]);
    }
    await cure();
    const letterOf = async ({ caller }: (typeof owners)[number]) => {
      type Letter = { id: string; state: string; code: string };
      const [letter] = (await caller.get<{ data: Letter[] }>('/v1/core/dead-letters')).body.data;
      if (!letter) throw new Error('There is no letter');
      return letter;
    };
    for (const owner of owners) {
      const { id } = await letterOf(owner);
      expect((await owner.caller.post(`/v1/core/dead-letters/${id}/replay`)).status).toBe(202);
    }
    return {
      owners,
      states: async () => (await Promise.all(owners.map(letterOf))).map(({ state }) => state),
    };
  }

  it.each([
    ['because it cannot be settled', 'dead_letters', 'UPDATE', `NEW.state = 'replayed'`, undefined],
    ['because it loses every race', 'events', 'INSERT', 'true', 'RETURN NULL;'],
  ] as const)(
    '%s waits, and is its owner’s again after five times',
    async (_, table, when, which, effect) => {
      const { owners, states } = await twoQueued();
      const cure = await poison(table, when, `NEW.organization_id = '${owners[0].id}' AND ${which}`, effect);
      try {
        await world.replay();
        expect(await states()).toEqual(['replaying', 'replayed']);
        for (let attempts = 1; attempts < 5; attempts += 1) {
          expect(await states()).toEqual(['replaying', 'replayed']);
          world.pass(MINUTE_MS);
          await world.replay();
        }
        expect(await states()).toEqual(['pending', 'replayed']);
      } finally {
        await cure();
      }
    },
  );
});

it('is seen to come on with every organization, for one may always have more to do', async () => {
  const lastPass = async (): Promise<number> => {
    const text = await metrics.getSingleMetricAsString('job_last_pass_timestamp_seconds');
    return Number(/\{job_name="segments"\} (.*)$/m.exec(text)?.[1] ?? 0);
  };
  const { id, caller } = world.anOrganization();
  await world.segment(caller, PAID);
  const before = await lastPass();
  await world.store(id, [paid('ana')]);
  // What a pass is made of, and not the pass, which stamps its end itself.
  await world.evaluate();
  expect(await lastPass()).toBeGreaterThan(before);
});
