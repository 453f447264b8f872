import { START_MS } from '../core.fixture.js';
import { ErasureWorld } from '../subject-requests/subject-request.fixture.js';
import { live } from './life.fixture.js';

describe('lives in which anything follows anything, before it has had its effect', () => {
  let world: ErasureWorld;
  beforeAll(async () => {
    world = await ErasureWorld.start();
  }, START_MS);
  afterAll(() => world.close());

  it('come to what was said, done and erased', async () => {
    await live(world, 20_261_128, (_, lives) => lives === 5);
  }, 240_000);
});
