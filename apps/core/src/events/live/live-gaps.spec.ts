import { newId } from '@customer-platform/database';
import {
  eventually,
  startTestApp,
  type Caller,
  type EventReader,
  type TestApp,
} from '@customer-platform/testing';
import { Client } from 'pg';
import { coreApp } from '../../core.app.js';
import { CORE_PERMISSIONS } from '../../core.fixture.js';
import { SegmentWorld } from '../../segments/segment.fixture.js';
import type { EventDto } from '../event.dto.js';
import { LiveFeed } from './live-feed.js';
import { endOnlyByOutages } from './live.fixture.js';

/** Core without its workers, and another instance beside it. */
let world: SegmentWorld;
let beside: TestApp;
const readers: EventReader[] = [];
beforeAll(async () => {
  world = await SegmentWorld.start();
  const { database, app } = world.core;
  const env = { PROCESS_ROLE: 'api' };
  beside = await startTestApp({ ...coreApp(), database, registry: app.registry, env });
  for (const instance of [app, beside]) {
    endOnlyByOutages(instance);
    instance.app.get(LiveFeed, { strict: false }).waitedForMs = 2_000;
  }
}, 120_000);
afterEach(async () => {
  for (const reader of readers.splice(0)) await reader.close();
});
afterAll(async () => {
  await beside.close();
  await world.close();
});

async function listen(caller: Caller, last?: string): Promise<EventReader> {
  const headers: Record<string, string> = last === undefined ? {} : { 'last-event-id': last };
  const reader = await eventually(() => caller.listen('/v1/core/events/stream', headers));
  readers.push(reader);
  return reader.start();
}

async function stored(id: string, event: string): Promise<void> {
  await world.store(id, [{ externalId: 'ana', at: world.now(-1_000), event }]);
}

describe('GET /v1/core/events/stream, where a transaction lasts longer than is waited for', () => {
  /** One that stores an event at its very end, when events that were stored meanwhile have been told. */
  async function lasting(id: string): Promise<{ commit: () => Promise<void> }> {
    const client = new Client({ connectionString: world.core.database.url });
    await client.connect();
    await client.query('BEGIN');
    await client.query(`SELECT set_config('app.organization_id', $1, true)`, [id]);
    // What others store from here on is of a later millisecond: of one instant the ids would say what comes first.
    await eventually(async () => {
      const { rows } = await client.query(
        `SELECT clock_timestamp() > now() + interval '2 milliseconds' AS past`,
      );
      expect(rows).toEqual([{ past: true }]);
    });
    const commit = async () => {
      await client.query(
        `INSERT INTO events (organization_id, id, type, event, external_id, contact_id, idempotency_key, occurred_at,
                             received_at, payload, source, fingerprint)
         VALUES ($1, gen_random_uuid(), 'track', 'late', 'ana', gen_random_uuid(), $2, now(), now(), '{}', 'api',
                 gen_random_uuid())`,
        [id, newId()],
      );
      await client.query('COMMIT');
      await client.end();
    };
    return { commit };
  }
  const kinds = (reader: EventReader) =>
    reader.events.map(({ event, data }) =>
      event === 'recorded' ? (JSON.parse(data) as EventDto).event : event,
    );

  it('says that there is a gap when it has ended, and tells what comes', async () => {
    const { id, caller } = world.anOrganization();
    const reader = await listen(caller);
    const { commit } = await lasting(id);
    await stored(id, 'meanwhile');
    await eventually(() => expect(kinds(reader)).toEqual(['meanwhile']));
    await commit();
    await eventually(() => expect(kinds(reader)).toEqual(['meanwhile', 'gap']));
    await stored(id, 'after');
    await eventually(() => expect(kinds(reader)).toEqual(['meanwhile', 'gap', 'after']));
  });

  it('says so to who came while it was open, and to who was away when it ended, on any instance', async () => {
    const { id, caller } = world.anOrganization();
    const before = await listen(caller);
    const { commit } = await lasting(id);
    await stored(id, 'meanwhile');
    await eventually(() => expect(kinds(before)).toEqual(['meanwhile']));
    const during = await listen(beside.as(id, CORE_PERMISSIONS));
    await before.close();
    await commit();
    await eventually(() => expect(kinds(during)).toEqual(['gap']));
    await stored(id, 'after');
    const again = await listen(beside.as(id, CORE_PERMISSIONS), before.lastEventId);
    await eventually(() => expect(kinds(again)).toEqual(['gap', 'after']));
    const third = await listen(caller, again.lastEventId);
    await stored(id, 'last');
    await eventually(() => expect(kinds(third)).toEqual(['last']));
  });
});
