import {
  eventually,
  startTestApp,
  type Caller,
  type EventReader,
  type TestApp,
} from '@customer-platform/testing';
import { coreApp } from '../../core.app.js';
import { CORE_PERMISSIONS } from '../../core.fixture.js';
import { SegmentWorld } from '../../segments/segment.fixture.js';
import type { EventDto } from '../event.dto.js';
import { LiveFeed } from './live-feed.js';
import { endOnlyByOutages, LateEvent } from './live.fixture.js';

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
  const kinds = (reader: EventReader) =>
    reader.events.map(({ event, data }) =>
      event === 'recorded' ? (JSON.parse(data) as EventDto).event : event,
    );

  it('says that there is a gap when it has ended, and tells what comes', async () => {
    const { id, caller } = world.anOrganization();
    const reader = await listen(caller);
    const late = await LateEvent.begin(world.core.database, id);
    await stored(id, 'meanwhile');
    await eventually(() => expect(kinds(reader)).toEqual(['meanwhile']));
    await late.commit('late');
    await eventually(() => expect(kinds(reader)).toEqual(['meanwhile', 'gap']));
    await stored(id, 'after');
    await eventually(() => expect(kinds(reader)).toEqual(['meanwhile', 'gap', 'after']));
  });

  it('says so to who came while it was open, and to who was away when it ended, on any instance', async () => {
    const { id, caller } = world.anOrganization();
    const before = await listen(caller);
    const late = await LateEvent.begin(world.core.database, id);
    await stored(id, 'meanwhile');
    await eventually(() => expect(kinds(before)).toEqual(['meanwhile']));
    const during = await listen(beside.as(id, CORE_PERMISSIONS));
    await before.close();
    await late.commit('late');
    await eventually(() => expect(kinds(during)).toEqual(['gap']));
    await stored(id, 'after');
    const again = await listen(beside.as(id, CORE_PERMISSIONS), before.lastEventId);
    await eventually(() => expect(kinds(again)).toEqual(['gap', 'after']));
    const third = await listen(caller, again.lastEventId);
    await stored(id, 'last');
    await eventually(() => expect(kinds(third)).toEqual(['last']));
  });
});
