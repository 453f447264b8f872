import { SignInWalk } from '../src/sign-in/sign-in-walk.fixture.js';
import { endsOf, PAIRS } from '../src/sign-in/walk-pairs.fixture.js';
import { WebKitGround } from './webkit/walk-in-webkit.fixture.js';

/** One of so many pairs is walked; the seed is one that leaves out no scenario, no step and no disturbance. */
const SHARE = 19;
const SEED = 8;
/** Maven fetches the engine at first. */
const LONGEST_MS = 300_000;

describe('the sign-in in WebKit, disturbed at a step', () => {
  let walk: SignInWalk | undefined;
  beforeAll(async () => {
    walk = new SignInWalk(await WebKitGround.start());
  }, LONGEST_MS);
  afterAll(() => walk?.end());

  const pairs = PAIRS.filter((_, index) => index % SHARE === SEED);
  it.each(pairs)(
    '%s, at %s: %s',
    async (...pair) => {
      expect(endsOf(pair[2])).toContain(await walk?.walk(pair));
    },
    LONGEST_MS,
  );
});
