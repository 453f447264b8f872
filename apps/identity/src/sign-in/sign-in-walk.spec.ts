import { SignInWalk } from './sign-in-walk.fixture.js';
import { HttpGround } from './walk-by-http.fixture.js';
import { endsOf, PAIRS } from './walk-pairs.fixture.js';

/** One of so many pairs is walked, by a fixed seed. */
const SHARE = 11;
const SEED = 4;
/** Once led nowhere. */
const FOUND = ['consent,allow,person suspended', 'consent,allow,factor reset'];

describe('the sign-in, disturbed at a step', () => {
  let walk: SignInWalk;
  beforeAll(async () => {
    walk = new SignInWalk(await HttpGround.start());
  });
  afterAll(() => walk.end());

  const pairs = PAIRS.filter((pair, index) => index % SHARE === SEED || FOUND.includes(pair.join()));
  it.each(pairs)('%s, at %s: %s', async (...pair) => {
    expect(endsOf(pair[2])).toContain(await walk.walk(pair));
  });
});
