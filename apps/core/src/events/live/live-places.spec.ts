import { Clock, newId } from '@customer-platform/database';
import { eventually, expectProblem, type Caller, type EventReader } from '@customer-platform/testing';
import { CORE_PERMISSIONS } from '../../core.fixture.js';
import { SegmentWorld } from '../../segments/segment.fixture.js';
import { endOnlyByOutages } from './live.fixture.js';
import { STREAMS_AT_ONCE } from './live-streams.js';
import { MOST_STREAMS } from './stream-slots.js';

const STREAM = '/v1/core/events/stream';

let world: SegmentWorld;
const readers: EventReader[] = [];
beforeAll(async () => {
  world = await SegmentWorld.start();
  endOnlyByOutages(world.core.app);
}, 120_000);
afterAll(async () => {
  for (const reader of readers) await reader.close();
  await world.close();
});

async function listen(caller: Caller): Promise<void> {
  readers.push(await eventually(() => caller.listen(STREAM, {})));
}

it('429 for one stream more than a tenant has on an instance, in however many organizations that it founds', async () => {
  const { app } = world.core;
  const tenant = newId();
  const child = () =>
    app.with(app.registry.key({ organizationId: newId(), permissions: CORE_PERMISSIONS, tenant }));
  for (let count = 0; count < STREAMS_AT_ONCE.ofTenant; count += 1) await listen(child());
  expectProblem(await child().get(STREAM), 429, 'rate_limited');
  await listen(world.anOrganization().caller);
});

it('a stream whose time is over gives its place back before its reader hears of that', async () => {
  const { app } = world.core;
  const { caller } = world.anOrganization();
  let ahead = 0;
  app.app.get(Clock, { strict: false }).now = () => new Date(Date.now() + ahead);
  const five = await Promise.all(
    Array.from({ length: MOST_STREAMS }, async () => (await caller.listen(STREAM, {})).start()),
  );
  readers.push(...five);
  ahead = 151_000;
  for (const reader of five) {
    await eventually(() => expect(reader.ended).toBe(true));
    readers.push(await caller.listen(STREAM, {}));
  }
});
