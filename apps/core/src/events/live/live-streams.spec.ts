import { newId } from '@customer-platform/database';
import type { Permission } from '@customer-platform/permissions';
import {
  eventually,
  expectProblem,
  startTestApp,
  type Caller,
  type EventReader,
  type TestApp,
} from '@customer-platform/testing';
import { coreApp } from '../../core.app.js';
import { CORE_PERMISSIONS } from '../../core.fixture.js';
import { SegmentWorld, type Given } from '../../segments/segment.fixture.js';
import type { EventDto } from '../event.dto.js';
import { LiveFeed } from './live-feed.js';
import { endOnlyByOutages, LateEvent } from './live.fixture.js';
import { positionText } from './live-position.js';

const STREAM = '/v1/core/events/stream';

/** Core without its workers, and another instance beside it: a test stores events by itself. */
let world: SegmentWorld;
let beside: TestApp;
const readers: EventReader[] = [];
beforeAll(async () => {
  world = await SegmentWorld.start();
  const { database, app } = world.core;
  beside = await startTestApp({
    ...coreApp(),
    database,
    registry: app.registry,
    env: { PROCESS_ROLE: 'api' },
  });
  endOnlyByOutages(world.core.app);
  endOnlyByOutages(beside);
}, 120_000);
afterEach(async () => {
  for (const reader of readers.splice(0)) await reader.close();
});
afterAll(async () => {
  await beside.close();
  await world.close();
});

async function listen(caller: Caller, query = '', last?: string): Promise<EventReader> {
  const headers: Record<string, string> = last === undefined ? {} : { 'last-event-id': last };
  const reader = await eventually(() => caller.listen(`${STREAM}${query}`, headers));
  readers.push(reader);
  return reader.start();
}

const given = (more: Partial<Given> = {}): Given => ({
  externalId: 'ana',
  at: world.now(-1_000),
  event: 'paid',
  ...more,
});

const told = (reader: EventReader): EventDto[] =>
  reader.events.map(({ data }) => JSON.parse(data) as EventDto);
const names = (reader: EventReader): (string | null)[] => told(reader).map(({ event }) => event);

async function stored(id: string, event: string): Promise<void> {
  await world.store(id, [given({ event })]);
}

/** One that was there when a stream began, and not just then. */
async function storedBefore(id: string, events = [given({ event: 'before' })]): Promise<void> {
  await world.store(id, events);
  await world.core.database.query(
    `UPDATE events SET created_at = created_at - interval '5 seconds' WHERE organization_id = $1`,
    [id],
  );
}

/** Letters of an organization, as the worker keeps them. */
async function letter(organizationId: string, payload: string): Promise<void> {
  await world.core.database.query(
    `INSERT INTO dead_letters (organization_id, id, event_id, type, stage, code, detail, attempts, payload, external_id, state,
                               fingerprint, received_at, first_failed_at, last_failed_at)
     VALUES ($1, gen_random_uuid(), gen_random_uuid(), 'track', 'store', 'internal_error', 'It failed.', 3,
             convert_to($2, 'UTF8'), 'ana', 'pending', gen_random_uuid(), now(), now(), now())`,
    [organizationId, payload],
  );
}

/** What a metric of this process says; of both instances. */
async function metric(name: string): Promise<number> {
  const text = await (await fetch(`${world.core.app.url}/metrics`)).text();
  const line = text.split('\n').find((each) => each.startsWith(`${name} `));
  return Number(line?.split(' ')[1]);
}

describe('GET /v1/core/events/stream', () => {
  it('tells each event that is stored as the list has it, in order, and none of another organization', async () => {
    const { id, caller } = world.anOrganization();
    await storedBefore(id);
    const reader = await listen(caller);
    await stored(world.anOrganization().id, 'foreign');
    await world.store(id, [given({ event: 'first' }), given({ traits: { plan: 'pro' }, event: undefined })]);
    await stored(id, 'third');
    await eventually(() => expect(reader.events).toHaveLength(3));
    const { body } = await caller.get<{ data: EventDto[] }>('/v1/core/events?event[ne]=before');
    expect(new Set(told(reader).map(({ id: event }) => event)).size).toBe(3);
    const identify = await caller.get<{ data: EventDto[] }>('/v1/core/events?type=identify');
    expect(told(reader)).toEqual(expect.arrayContaining([...body.data, ...identify.body.data]));
    expect(names(reader).at(-1)).toBe('third');
    for (const { event, id: position } of reader.events) {
      expect(event).toBe('recorded');
      expect(position).toBeTruthy();
    }
    expect(reader.comments).toBeGreaterThan(0);
  });

  it('tells nothing but what the filters ask for, and follows a merge', async () => {
    const { id, caller } = world.anOrganization();
    await storedBefore(id, [given({ externalId: 'ana' }), given({ externalId: 'ben' })]);
    const { body } = await caller.get<{ data: { id: string; external_id: string }[] }>('/v1/core/contacts');
    const idOf = (externalId: string) =>
      body.data.find(({ external_id: one }) => one === externalId)?.id ?? '';
    const merge = { survivor_id: idOf('ana'), merged_id: idOf('ben') };
    expect((await caller.post('/v1/core/contacts/merge', merge)).status).toBe(200);
    const [byName, byExternalId, byContact] = await Promise.all([
      listen(caller, '?event=paid'),
      listen(caller, '?external_id=cleo'),
      listen(caller, `?contact_id=${idOf('ben')}`),
    ]);
    await world.store(id, [
      given({ externalId: 'cleo', event: 'seen' }),
      given({ externalId: 'ana', event: 'seen' }),
      given({ externalId: 'cleo' }),
    ]);
    await eventually(() => {
      expect(told(byName).map((one) => one.external_id)).toEqual(['cleo']);
      expect(names(byExternalId).sort()).toEqual(['paid', 'seen']);
      expect(told(byContact).map((one) => one.external_id)).toEqual(['ana']);
    });
  });

  it('tells of dead letters, the whole only to who may read them', async () => {
    const { id, caller } = world.anOrganization();
    const blind = world.core.app.as(id, ['core.events.read']);
    const [whole, brief] = await Promise.all([listen(caller), listen(blind)]);
    await letter(id, '{"event":"paid","secret":1}');
    await eventually(() => {
      expect(whole.events).toHaveLength(1);
      expect(brief.events).toHaveLength(1);
    });
    expect(whole.events[0]).toMatchObject({ event: 'dead_lettered' });
    const [item] = (await caller.get<{ data: object[] }>('/v1/core/dead-letters')).body.data;
    expect(JSON.parse(whole.events[0]?.data ?? '')).toEqual(item);
    expect(Object.keys(JSON.parse(brief.events[0]?.data ?? '') as object)).toEqual(['event_id', 'code']);
  });

  it('goes on where the reader was, on any instance, without loss or repeat', async () => {
    const { id, caller } = world.anOrganization();
    const there = beside.as(id, CORE_PERMISSIONS);
    const first = await listen(caller);
    await stored(id, 'e0');
    await eventually(() => expect(names(first)).toEqual(['e0']));
    await first.close();
    for (const event of ['e1', 'e2', 'e3']) await stored(id, event);
    const second = await listen(there, '', first.lastEventId);
    await eventually(() => expect(names(second)).toEqual(['e1', 'e2', 'e3']));
    await stored(id, 'e4');
    await eventually(() => expect(names(second)).toEqual(['e1', 'e2', 'e3', 'e4']));
    const again = await listen(caller, '', second.events[1]?.id);
    await eventually(() => expect(names(again)).toEqual(['e3', 'e4']));
  });

  it('loses nothing and repeats nothing while many store and readers come and go', async () => {
    const { id, caller } = world.anOrganization();
    const [here, there] = [caller, beside.as(id, CORE_PERMISSIONS)];
    const steady = await listen(there);
    const open = await listen(here);
    const walked: (string | null)[] = [];
    let last: string | undefined;
    const storing = Promise.all(
      Array.from({ length: 8 }, async (_, lane) => {
        for (let n = 0; n < 12; n += 1) {
          const externalId = `person-${lane}`;
          await world.store(id, [
            given({ externalId, event: `${lane}-${n}` }),
            given({ externalId, event: `${lane}+${n}` }),
          ]);
        }
      }),
    );
    for (let turn = 0, reader = open; turn < 6; turn += 1) {
      const most = reader.events.length + 5;
      await eventually(() =>
        expect(reader.events.length >= most || walked.length + reader.events.length >= 150).toBe(true),
      );
      await reader.close();
      walked.push(...names(reader));
      last = reader.lastEventId;
      reader = await listen(turn % 2 === 0 ? there : here, '', last);
      if (turn === 5) {
        await storing;
        await eventually(() => expect(walked.length + reader.events.length).toBe(192));
        walked.push(...names(reader));
      }
    }
    await eventually(() => expect(steady.events).toHaveLength(192));
    expect(new Set(walked).size).toBe(192);
    expect(walked).toEqual(names(steady));
  });

  it('waits for a transaction that began before, so that nothing comes too late to be told', async () => {
    const { id, caller } = world.anOrganization();
    const reader = await listen(caller);
    await stored(id, 'e0');
    await eventually(() => expect(names(reader)).toEqual(['e0']));
    const late = await LateEvent.begin(world.core.database, id);
    await stored(id, 'after');
    await late.commit('before');
    await eventually(() => expect(names(reader)).toEqual(['e0', 'before', 'after']));
  });

  it.each([
    ['no position', 'nonsense'],
    ['a position of six minutes ago', () => positionText({ at: Date.now() - 6 * 60_000, id: newId() })],
    ['a position of a time to come', () => positionText({ at: Date.now() + 60_000, id: newId() })],
    ['a very long one', 'x'.repeat(2_000)],
  ])('says that there is a gap for %s, and goes on with the present', async (_, last) => {
    const { id, caller } = world.anOrganization();
    await storedBefore(id);
    const reader = await listen(caller, '', typeof last === 'string' ? last : last());
    await eventually(() => expect(reader.events).toMatchObject([{ event: 'gap', data: '{}' }]));
    await stored(id, 'after');
    await eventually(() => expect(names(reader).slice(1)).toEqual(['after']));
  });

  it('drops for a reader that takes nothing, and says how much', async () => {
    const { id, caller } = world.anOrganization();
    const slow = await eventually(() => caller.listen(STREAM));
    readers.push(slow);
    const steady = await listen(caller);
    const { streams } = world.core.app.app.get(LiveFeed, { strict: false });
    await eventually(() => expect([...streams].every(({ live }) => live)).toBe(true));
    const properties = { text: 'x'.repeat(30_000) };
    const EVENTS = 800;
    for (let at = 0; at < EVENTS; at += 100)
      await world.store(
        id,
        Array.from({ length: 100 }, () => given({ properties })),
      );
    await eventually(() => expect(steady.events).toHaveLength(EVENTS), { within: 30_000 });
    slow.start();
    await eventually(
      () => {
        const dropped = slow.events.filter(({ event }) => event === 'dropped');
        const count = dropped.reduce(
          (sum, { data }) => sum + (JSON.parse(data) as { count: number }).count,
          0,
        );
        expect(count).toBeGreaterThan(0);
        expect(slow.events.length - dropped.length + count).toBe(EVENTS);
      },
      { within: 30_000 },
    );
  });

  it('429 for the sixth of an organization, over all instances, until one has gone', async () => {
    const { id, caller } = world.anOrganization();
    const there = beside.as(id, CORE_PERMISSIONS);
    const open: EventReader[] = [];
    for (const each of [caller, there, caller, there, caller]) open.push(await listen(each));
    for (const each of [caller, there]) {
      const answer = await each.get(STREAM);
      expectProblem(answer, 429, 'rate_limited');
      expect(answer.body).toMatchObject({ scope: 'organization' });
      expect(answer.headers.get('retry-after')).toBe('5');
    }
    await eventually(async () => expect(await metric('event_streams_open')).toBe(5));
    expect(await metric('event_streams_refused_total{scope="organization"}')).toBeGreaterThanOrEqual(2);
    await open[0]?.close();
    await listen(there);
    await listen(world.anOrganization().caller);
  });

  it('takes the place of a stream whose instance was killed', async () => {
    const { id, caller } = world.anOrganization();
    await world.core.database.query(
      `INSERT INTO event_streams (organization_id, id, seen_at)
       SELECT $1, gen_random_uuid(), now() - interval '11 seconds' FROM generate_series(1, 5)`,
      [id],
    );
    await listen(caller);
  });

  describe('ends', () => {
    const key = (permissions: readonly Permission[]) => {
      const { registry } = world.core.app;
      const text = registry.key({ organizationId: newId(), permissions });
      return { registry, text, caller: world.core.app.with(text) };
    };

    it('when the credential does', async () => {
      const { registry, text, caller } = key(['core.events.read']);
      const reader = await listen(caller);
      registry.revoke(text);
      await eventually(() => expect(reader.ended).toBe(true));
      expectProblem(await caller.get(STREAM), 401, 'invalid_token');
    });

    it('when the permission is taken away; one that shows more is taken at once', async () => {
      const { registry, text, caller } = key(['core.events.read', 'core.jobs.read']);
      const reader = await listen(caller);
      registry.permit(text, ['core.jobs.read']);
      await eventually(() => expect(reader.ended).toBe(true));
      expectProblem(await caller.get(STREAM), 403, 'permission_denied');
    });

    it('when the registry is silent: who cannot be known to have the right has it not', async () => {
      const { registry, caller } = key(['core.events.read']);
      const reader = await listen(caller);
      registry.outage(true);
      try {
        await eventually(() => expect(reader.ended).toBe(true));
      } finally {
        registry.outage(false);
      }
    });

    it('after two minutes or so, and whoever comes back goes on there, all places being taken', async () => {
      const { id, caller } = world.anOrganization();
      const readers = await Promise.all(Array.from({ length: 5 }, () => listen(caller)));
      const [reader] = readers as [EventReader];
      await stored(id, 'e0');
      await eventually(() => expect(names(reader)).toEqual(['e0']));
      const opened = Date.now();
      world.stopClock(opened + 89_000);
      try {
        await stored(id, 'e1');
        await eventually(() => expect(names(reader)).toEqual(['e0', 'e1']));
        expect(readers.some(({ ended }) => ended)).toBe(false);
        world.stopClock(opened + 151_000);
        await eventually(() => expect(readers.every(({ ended }) => ended)).toBe(true));
      } finally {
        world.stopClock();
      }
      expect(readers.map(({ cutOff }) => cutOff)).toEqual(Array(5).fill(undefined));
      expect(await world.count('event_streams', id)).toBe(0);
      await stored(id, 'e2');
      const again = await listen(beside.as(id, CORE_PERMISSIONS), '', reader.lastEventId);
      await eventually(() => expect(names(again)).toEqual(['e2']));
    });

    it('when the app does, at once, and its place comes free', async () => {
      const { database, app } = world.core;
      const third = await startTestApp({
        ...coreApp(),
        database,
        registry: app.registry,
        env: { PROCESS_ROLE: 'api' },
      });
      const { id } = world.anOrganization();
      const reader = await listen(third.as(id, CORE_PERMISSIONS));
      await third.close();
      await eventually(() => expect(reader.ended).toBe(true));
      expect(await world.count('event_streams', id)).toBe(0);
    });
  });

  it.each(['?contact_id=ana', '?event=', `?external_id=${'x'.repeat(201)}`])('400 for %s', async (query) => {
    const { caller } = world.anOrganization();
    expectProblem(await caller.get(`${STREAM}${query}`), 400, 'validation_failed');
  });

  it('answers a HEAD, which takes no place', async () => {
    const { id, caller } = world.anOrganization();
    const { status, headers } = await caller.call('HEAD', STREAM);
    expect([status, headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
    expect(await world.count('event_streams', id)).toBe(0);
  });

  it('400 for another parameter, 403 without the permission, and takes no place for either', async () => {
    const { id, caller } = world.anOrganization();
    expectProblem(await caller.get(`${STREAM}?limit=1`), 400, 'unknown_parameter');
    const other = world.core.app.as(id, ['core.jobs.read']);
    expectProblem(await other.get(STREAM), 403, 'permission_denied');
    expect(await world.count('event_streams', id)).toBe(0);
  });
});
