import { SignInWalk } from './sign-in-walk.fixture.js';
import { ChromiumGround } from './walk-in-chromium.fixture.js';
import { endsOf, PAIRS } from './walk-pairs.fixture.js';

/** One of so many pairs is walked, by a fixed seed. */
const SHARE = 41;
const SEED = 7;

describe('the sign-in in Chromium, disturbed at a step', () => {
  let walk: SignInWalk;
  beforeAll(async () => {
    walk = new SignInWalk(await ChromiumGround.start());
  });
  afterAll(() => walk.end());

  const pairs = PAIRS.filter((_, index) => index % SHARE === SEED);
  it.each(pairs)('%s, at %s: %s', async (...pair) => {
    expect(endsOf(pair[2])).toContain(await walk.walk(pair));
  });
});
