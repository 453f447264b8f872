import { type PlatformUnderTest, START_WITHIN_MS } from '@customer-platform/testing';
import { importEdges, unheard } from './edge-end.fixture.js';
import { EdgeWalk, walkAll, zonesOfOneSide } from './edge-walk.fixture.js';
import { EdgeWorld } from './edge-world.fixture.js';
import { allPlaces, type FurtherEdges } from './edges.fixture.js';
import { journeyPlatform } from './journey.fixture.js';

/** Of all fields and filters every so manieth, each with every so manieth of its edges; the release run has them all. */
const EVERY_PLACE = 8;
const EVERY_VALUE = 5;
/** What changes how others are written to, lasts, or may be done seldom. */
const NOT_WALKED = /channel-settings|events\/stream|webhooks\/\{provider\}|password|mfa/;

describe('some edges of every type, in some fields and filters of every module', () => {
  let platform: PlatformUnderTest;
  let world: EdgeWorld;
  let further: FurtherEdges;

  beforeAll(async () => {
    platform = await journeyPlatform();
    world = await EdgeWorld.make(platform);
    further = { zones: await zonesOfOneSide(platform) };
  }, START_WITHIN_MS);

  it('are answered, never by a 5xx, and what is taken is shown, found and heard', async () => {
    const walk = new EdgeWalk(world, further);
    const places = [...allPlaces(), ...world.placesOfItsOwn()].filter(
      ({ method, path }, at) => at % EVERY_PLACE === 0 && !NOT_WALKED.test(`${method} ${path}`),
    );
    await walkAll(walk, places, (_, at) => at % EVERY_VALUE === 0);
    expect(places.length).toBeGreaterThan(150);
    expect(walk.faults).toEqual([]);
    expect(await importEdges(world, further)).toEqual([]);
    expect(await unheard(world)).toEqual([]);
  });
});
