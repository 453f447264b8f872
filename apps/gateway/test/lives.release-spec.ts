import { END_WITHIN_MS, live, START_WITHIN_MS } from '@customer-platform/testing';
import { PlatformLives } from './platform-lives.fixture.js';

/** The lives; that of core has each ordered pair of acts twenty times, this one the other modules. */
const LIVES = Number(process.env['LIVES'] ?? 40);
const SEED = Number(process.env['PROPERTY_SEED'] ?? 1);

describe('lives among all modules, which stop and start again', () => {
  let world: PlatformLives;
  beforeAll(async () => {
    world = await PlatformLives.start();
  }, START_WITHIN_MS);
  afterAll(() => world.stopAll(), END_WITHIN_MS);

  it(
    'come to what was said, done and erased, in each of them',
    async () => {
      const pairs = await live(world, { seed: SEED, enough: (_, lives) => lives === LIVES });
      process.stderr.write(`seed ${String(SEED)}, ${String(LIVES)} lives: ${pairs.told}\n`);
    },
    60 * 60_000,
  );
});
