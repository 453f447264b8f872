import { live } from '@customer-platform/testing';
import { START_MS } from '../core.fixture.js';
import { CoreLives } from './core-lives.fixture.js';

/** Some seconds of processor time; the release run has each pair twenty times. */
const LIVES = Number(process.env['LIVES'] ?? 30);
/** The same in every run. */
const SEED = Number(process.env['PROPERTY_SEED'] ?? 20_261_128);

describe('lives in which anything follows anything, before it has had its effect', () => {
  let world: CoreLives;
  beforeAll(async () => {
    world = await CoreLives.start();
  }, START_MS);
  afterAll(() => world.close());

  it('come to what was said, done and erased', async () => {
    const pairs = await live(world, { seed: SEED, enough: (_, lives) => lives === LIVES });
    process.stderr.write(`${String(LIVES)} lives: ${pairs.told.split('\n')[0] ?? ''}\n`);
  }, 240_000);
});
