import { jest } from '@jest/globals';
import { END_WITHIN_MS, PlatformUnderTest, START_WITHIN_MS } from '@customer-platform/testing';
import { importEdges, settle } from './edge-end.fixture.js';
import { EdgeWalk, nameOf, walkAll, zonesOfOneSide } from './edge-walk.fixture.js';
import { EdgeWorld } from './edge-world.fixture.js';
import { allPlaces, type FurtherEdges } from './edges.fixture.js';

jest.setTimeout(1_800_000);

/** What changes how everybody is written to, what lasts, and what a provider signs. */
const NOT_WALKED = /channel-settings|events\/stream|webhooks\/\{provider\}/;

describe('the edges of every type, in every field and filter of every route', () => {
  let platform: PlatformUnderTest;
  let world: EdgeWorld;
  let walk: EdgeWalk;
  let further: FurtherEdges;

  beforeAll(async () => {
    platform = await PlatformUnderTest.start();
    world = await EdgeWorld.make(platform);
    further = { zones: await zonesOfOneSide(platform) };
    walk = new EdgeWalk(world, further);
  }, START_WITHIN_MS);
  afterAll(() => platform.stop(), END_WITHIN_MS);

  it('are answered, never by a 5xx, and what is taken is shown and found', async () => {
    const places = [...allPlaces(), ...world.placesOfItsOwn()].filter(
      (place) => !NOT_WALKED.test(nameOf(place)),
    );
    await walkAll(walk, places);
    process.stdout.write(`${walk.figures}\n`);
    expect(walk.faults).toEqual([]);
    expect(walk.neverTaken()).toEqual([]);
  });

  it('are taken or refused row by row where they are imported', async () => {
    expect(await importEdges(world, further)).toEqual([]);
  });

  it('leave nothing behind that cannot be heard, read, rebuilt, handed out or erased', async () => {
    expect(await settle(world)).toEqual([]);
  });
});
