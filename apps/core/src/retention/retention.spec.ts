import { InternalClient, Tenants } from '@customer-platform/authorization';
import {
  Clock,
  Database,
  OrganizationRetention,
  newId,
  type RetainedKind,
} from '@customer-platform/database';
import { DatabaseFault, eventually, type Caller } from '@customer-platform/testing';
import { accepted, aTrack, processing, START_MS, startCore, type TestCore } from '../core.fixture.js';
import { RETAINED_EVENTS } from './retained-events.js';
import { RETAINED_LETTERS } from './retained-letters.js';

const DAY_MS = 86_400_000;
const NOW = Date.parse('2025-06-15T12:00:00.000Z');

interface Listed {
  data: { id: string; event: string }[];
  gap: { reason: string; until: string } | null;
}

interface Letter {
  id: string;
  state: string;
  closed_reason: string | null;
  payload: string | null;
}

let core: TestCore;
let clock: Clock;
beforeAll(async () => {
  core = await startCore();
  clock = core.app.app.get(Clock);
  await processing(core);
}, START_MS);
afterAll(() => core.close());
beforeEach(() => at(NOW));
afterEach(async () => {
  Reflect.deleteProperty(clock, 'now');
  for (const id of told.splice(0)) core.app.registry.organization(id);
  await core.database.query('DELETE FROM retention_periods');
});

const at = (time: number): void => {
  clock.now = () => new Date(time);
};

/** Another instance of the job. */
const instance = (...kinds: RetainedKind[]): OrganizationRetention => {
  const { app } = core.app;
  const all = kinds.length === 0 ? [RETAINED_EVENTS, RETAINED_LETTERS] : kinds;
  return new OrganizationRetention(app.get(Database), app.get(InternalClient), clock, all, app.get(Tenants));
};

/** Organizations that have said something. */
const told: string[] = [];

function keeps(id: string, retention: Record<string, number | null>): void {
  told.push(id);
  core.app.registry.organization(id, { settings: { retention } });
}

/** As {@link keeps}, and has stood for a day. */
async function hasKept(id: string, retention: Record<string, number>): Promise<void> {
  keeps(id, retention);
  at(NOW - DAY_MS);
  await instance().sweep();
  at(NOW);
}

/** Events that were accepted and happened so many milliseconds ago. */
async function store(organizationId: string, ages: readonly number[]): Promise<string[]> {
  const ids = ages.map(() => newId());
  await core.database.query(
    `INSERT INTO events (organization_id, id, type, event, external_id, contact_id, idempotency_key, occurred_at,
                         received_at, payload, source, fingerprint, created_at)
     SELECT $1, id, 'track', 'past', 'x', gen_random_uuid(), id::text, $4::timestamptz - age * interval '1 millisecond',
            $4::timestamptz - age * interval '1 millisecond', '{}', 'api', gen_random_uuid(), $4::timestamptz - age * interval '1 millisecond'
       FROM unnest($2::uuid[], $3::float8[]) AS given (id, age)`,
    [organizationId, ids, ages, new Date(NOW)],
  );
  return ids;
}

const idsOf = async (organizationId: string): Promise<string[]> => {
  const rows = await core.database.query<{ id: string }>(
    'SELECT id FROM events WHERE organization_id = $1 ORDER BY received_at DESC',
    [organizationId],
  );
  return rows.map(({ id }) => id);
};

const events = async (caller: Caller, query = ''): Promise<Listed> =>
  (await caller.get<Listed>(`/v1/core/events${query}`)).body;

describe('events of which an organization says for how long they are kept', () => {
  it('are removed when their time is over, to the millisecond, and nobody else’s', async () => {
    const [one, other] = [core.anOrganization(), core.anOrganization()];
    const ages = [0, 30 * DAY_MS - 1, 30 * DAY_MS, 30 * DAY_MS + 1, 400 * DAY_MS];
    const stored = await store(one.id, ages);
    await store(other.id, ages);
    await hasKept(one.id, { events_days: 30 });
    expect(await instance().sweep()).toBe(2);
    expect(await idsOf(one.id)).toEqual(stored.slice(0, 3));
    expect(await idsOf(other.id)).toHaveLength(ages.length);
    expect(await instance().sweep()).toBe(0);
  });

  it('are all there until the period has stood for a day, and while nobody can say what it is', async () => {
    const { id } = core.anOrganization();
    await store(id, [40 * DAY_MS, 20 * DAY_MS, 1]);
    keeps(id, { events_days: 30 });
    expect(await instance().sweep()).toBe(0);
    at(NOW + DAY_MS - 1);
    expect(await instance().sweep()).toBe(0);
    at(NOW + DAY_MS);
    core.app.registry.outage(true);
    try {
      await expect(instance().sweep()).rejects.toMatchObject({ code: 'dependency_unavailable' });
      expect(await idsOf(id)).toHaveLength(3);
    } finally {
      core.app.registry.outage(false);
    }
    expect(await instance().sweep()).toBe(1);
  });

  it('wait a day when it is shortened; a longer one, or none, counts at once', async () => {
    const { id } = core.anOrganization();
    await hasKept(id, { events_days: 30 });
    await instance().sweep();
    await store(id, [35 * DAY_MS, 20 * DAY_MS, 1]);
    keeps(id, { events_days: 10 });
    expect(await instance().sweep()).toBe(1);
    at(NOW + DAY_MS - 1);
    keeps(id, { events_days: 365 });
    expect(await instance().sweep()).toBe(0);
    keeps(id, { events_days: 10 });
    at(NOW + DAY_MS);
    expect(await instance().sweep()).toBe(0);
    keeps(id, {});
    at(NOW + 3 * DAY_MS);
    expect(await instance().sweep()).toBe(0);
    expect(await idsOf(id)).toHaveLength(2);
  });

  it('are known for ever: what repeats them is a duplicate or a conflict, and usage stays what it was', async () => {
    const { id, caller } = core.anOrganization();
    const reader = core.app.as(id, ['core.usage.read']);
    const usage = async () => {
      const { body } = await reader.get<{ totals: { events: Record<string, number> } }>('/v1/core/usage');
      return body.totals.events;
    };
    const body = aTrack({ external_id: 'ana' });
    Reflect.deleteProperty(clock, 'now');
    const { event_id: eventId } = await accepted(caller, body);
    await eventually(async () => expect(await usage()).toMatchObject({ accepted: 1, stored: 1, pending: 0 }));
    keeps(id, { events_days: 7 });
    const today = Date.now();
    at(today - DAY_MS);
    await instance().sweep();
    at(today);
    await core.database.query(
      `UPDATE events SET received_at = received_at - interval '8 days', created_at = created_at - interval '8 days'
        WHERE organization_id = $1`,
      [id],
    );
    // What was stored within the period stays, whenever it was accepted; a clock that is ahead removes nothing.
    const [late] = await store(id, [NOW - today + DAY_MS]);
    await core.database.query(
      `UPDATE events SET received_at = now() - interval '9 days' WHERE organization_id = $1 AND id = $2`,
      [id, late],
    );
    expect(await instance().sweep()).toBe(1);
    at(today + 30 * DAY_MS);
    expect(await instance().sweep()).toBe(0);
    expect(await idsOf(id)).toEqual([late]);
    await core.database.query('DELETE FROM events WHERE organization_id = $1 AND id = $2', [id, late]);
    Reflect.deleteProperty(clock, 'now');
    expect(await idsOf(id)).toEqual([]);
    expect((await accepted(caller, body)).event_id).toBe(eventId);
    await accepted(caller, { ...body, event: 'another' });
    await eventually(async () =>
      expect(await usage()).toMatchObject({
        accepted: 3,
        stored: 1,
        duplicates: 1,
        dead_lettered: 1,
        pending: 0,
      }),
    );
    expect(await idsOf(id)).toEqual([]);
    const letters = await caller.get<{ data: Letter[] }>('/v1/core/dead-letters');
    expect(letters.body.data).toMatchObject([{ code: 'idempotency_key_conflict', state: 'closed' }]);
  });

  it('of one organization that run into their time limit hold up nobody else’s', async () => {
    const [one, other] = [core.anOrganization(), core.anOrganization()];
    for (const { id } of [one, other]) await store(id, [60 * DAY_MS]);
    keeps(other.id, { events_days: 30 });
    await hasKept(one.id, { events_days: 30 });
    const fault = await DatabaseFault.in(core.database, {
      table: 'events',
      on: 'DELETE',
      when: `OLD.organization_id = '${one.id}'`,
      code: '57014',
    });
    try {
      expect(await instance().sweep()).toBe(1);
      expect([await idsOf(one.id), await idsOf(other.id)]).toMatchObject([{ length: 1 }, { length: 0 }]);
    } finally {
      await fault.mend();
    }
    expect(await instance().sweep()).toBe(1);
  });

  it.each(['P0001', '57014'])(
    'are kept where the period cannot be noted (%s), not where another’s cannot',
    async (code) => {
      const [one, other, leaver] = [core.anOrganization(), core.anOrganization(), core.anOrganization()];
      for (const { id } of [one, other, leaver]) await store(id, [60 * DAY_MS]);
      for (const { id } of [one, other]) keeps(id, { events_days: 30 });
      await hasKept(leaver.id, { events_days: 30 });
      await core.database.query(
        'UPDATE retention_periods SET days = wanted_days WHERE organization_id = $1',
        [leaver.id],
      );
      keeps(leaver.id, {});
      const fault = await DatabaseFault.in(core.database, {
        table: 'retention_periods',
        on: 'UPDATE',
        when: `NEW.organization_id = '${one.id}'`,
        code,
      });
      const retention = instance();
      try {
        expect(await retention.sweep()).toBe(1);
        expect(await Promise.all([one, other, leaver].map(({ id }) => idsOf(id)))).toMatchObject([
          { length: 1 },
          { length: 0 },
          { length: 1 },
        ]);
      } finally {
        await fault.mend();
      }
      // It is left for a moment.
      at(NOW + 60_000);
      expect(await retention.sweep()).toBe(1);
      expect(await idsOf(leaver.id)).toHaveLength(1);
    },
  );

  it('are said to be gone where they were asked for', async () => {
    const [one, other] = [core.anOrganization(), core.anOrganization()];
    await store(one.id, [90 * DAY_MS, 60 * DAY_MS, DAY_MS]);
    await store(other.id, [DAY_MS]);
    expect((await events(one.caller)).gap).toBeNull();
    await hasKept(one.id, { events_days: 30 });
    await instance().sweep();
    const until = new Date(NOW - 60 * DAY_MS).toISOString();
    const gap = { reason: 'retention', until };
    const page = await events(one.caller);
    expect(page).toMatchObject({ data: [{ event: 'past' }], gap });
    const later = new Date(NOW - 60 * DAY_MS + 1).toISOString();
    for (const [query, expected] of [
      [`?occurred_at[gte]=${until}`, gap],
      [`?occurred_at[lt]=${later}`, gap],
      [`?contact_id=${newId()}`, gap],
      [`?occurred_at[gt]=${until}`, null],
      [`?occurred_at[gte]=${later}`, null],
    ] as const)
      expect((await events(one.caller, query)).gap).toEqual(expected);
    expect((await events(other.caller)).gap).toBeNull();
    // What was removed stays removed when the period ends.
    keeps(one.id, {});
    await instance().sweep();
    expect((await events(one.caller)).gap).toEqual(gap);
  });

  it('go in pieces, once, by several instances at once and over a crash', async () => {
    const [one, other] = [core.anOrganization(), core.anOrganization()];
    const ages = Array.from({ length: 1_000 }, (_, n) => 60 * DAY_MS + n);
    await store(one.id, [...ages, DAY_MS]);
    await store(other.id, [60 * DAY_MS, DAY_MS]);
    keeps(other.id, { events_days: 30 });
    await hasKept(one.id, { events_days: 30 });
    let pieces = 0;
    const dying: RetainedKind = {
      ...RETAINED_EVENTS,
      async remove(tx, piece) {
        const done = await RETAINED_EVENTS.remove(tx, piece);
        if ((pieces += 1) > 3) throw new Error('The process died');
        return done;
      },
    };
    const before = await instance(dying).sweep(70);
    const left = [...(await idsOf(one.id)), ...(await idsOf(other.id))];
    expect(before).toBeGreaterThan(0);
    expect(left).toHaveLength(1_003 - before);
    const counts = await Promise.all([instance().sweep(70), instance().sweep(70)]);
    const rest = await instance().sweep(70);
    expect(before + counts.reduce((sum, count) => sum + count, rest)).toBe(1_001);
    expect(await idsOf(one.id)).toHaveLength(1);
    expect(await idsOf(other.id)).toHaveLength(1);
    const [noted] = await core.database.query<{ removed: string; traces: string }>(
      `SELECT removed, (SELECT count(*) FROM removed_events WHERE organization_id = $1) AS traces
         FROM retention_periods WHERE organization_id = $1 AND kind = 'events'`,
      [one.id],
    );
    expect(noted).toEqual({ removed: '1000', traces: '1000' });
  });
});

describe('dead letters', () => {
  async function letter(
    organizationId: string,
    eventId: string,
    state: string,
    age: number,
  ): Promise<string> {
    const id = newId();
    await core.database.query(
      `INSERT INTO dead_letters (organization_id, id, event_id, type, stage, code, detail, attempts, payload, state, fingerprint,
                                 received_at, first_failed_at, last_failed_at, closed_reason)
       VALUES ($1, $2, $3, 'track', 'loyalty', 'internal_error', 'It failed.', 3, '{"event":"x"}', $4, gen_random_uuid(), $5, $5, $5,
               CASE WHEN $4 = 'closed' THEN 'idempotency_key_conflict' END)`,
      [organizationId, id, eventId, state, new Date(NOW - age)],
    );
    return id;
  }
  const letters = async (caller: Caller): Promise<Map<string, Letter>> => {
    const { body } = await caller.get<{ data: Letter[] }>('/v1/core/dead-letters');
    return new Map(body.data.map((each) => [each.id, each]));
  };

  it('are emptied when their time is over, and say so to who would replay them', async () => {
    const { id, caller } = core.anOrganization();
    const old = await Promise.all(
      ['pending', 'replayed', 'closed'].map((state) => letter(id, newId(), state, 10 * DAY_MS + 1)),
    );
    const young = await letter(id, newId(), 'pending', 10 * DAY_MS);
    await hasKept(id, { dead_letters_days: 10 });
    expect(await instance().sweep(2)).toBe(3);
    const shown = await letters(caller);
    expect(old.map((each) => shown.get(each))).toMatchObject([
      { state: 'closed', closed_reason: 'payload_removed', payload: null },
      { state: 'replayed', closed_reason: null, payload: null },
      { state: 'closed', closed_reason: 'idempotency_key_conflict', payload: null },
    ]);
    expect(shown.get(young)).toMatchObject({ state: 'pending', payload: '{"event":"x"}' });
    expect(await caller.post(`/v1/core/dead-letters/${old[0] ?? ''}/replay`)).toMatchObject({
      status: 409,
      body: { code: 'not_replayable' },
    });
    expect(await instance().sweep()).toBe(0);
  });

  it('keep the event that a replay would need, until they are run or emptied', async () => {
    const { id } = core.anOrganization();
    const [held = '', free = ''] = await store(id, [20 * DAY_MS, 20 * DAY_MS]);
    await letter(id, held, 'pending', 20 * DAY_MS);
    await letter(id, free, 'replayed', 20 * DAY_MS);
    await hasKept(id, { events_days: 15 });
    expect(await instance().sweep()).toBe(1);
    expect(await idsOf(id)).toEqual([held]);
    await hasKept(id, { events_days: 15, dead_letters_days: 15 });
    await instance().sweep();
    expect(await instance().sweep()).toBe(0);
    expect(await idsOf(id)).toEqual([]);
  });
});
