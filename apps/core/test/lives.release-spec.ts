import { live } from '@customer-platform/testing';
import { START_MS } from '../src/core.fixture.js';
import { CoreLives } from '../src/lives/core-lives.fixture.js';

/** The meetings of each ordered pair of acts. */
const MEETINGS = Number(process.env['MEETINGS'] ?? 20);
const SEED = Number(process.env['PROPERTY_SEED'] ?? 1);

describe('lives in which each act follows each', () => {
  let world: CoreLives;
  beforeAll(async () => {
    world = await CoreLives.start();
  }, START_MS);
  afterAll(() => world.close());

  it(
    'come to what was said, done and erased',
    async () => {
      const pairs = await live(world, { seed: SEED, enough: ({ least }) => least >= MEETINGS });
      process.stderr.write(`seed ${String(SEED)}, ${pairs.told}\n`);
    },
    60 * 60_000,
  );
});
