import { IdentityBench } from '../identity-app.fixture.js';
import { DISTURBANCES, endsOf, PATHS, SCENARIOS, SignInWalk } from './sign-in-walk.fixture.js';

/** One of so many pairs is walked, by a fixed seed. A network is let try ten wrong addresses: no more are suspended here. */
const SHARE = 11;
const SEED = 4;

describe('the sign-in, disturbed at a step', () => {
  let bench: IdentityBench;
  let walk: SignInWalk;
  beforeAll(async () => {
    bench = await IdentityBench.start();
    walk = new SignInWalk(bench);
  });
  afterAll(() => bench.end());

  const pairs = SCENARIOS.flatMap((scenario) =>
    PATHS[scenario].flatMap((step) =>
      DISTURBANCES.map((disturbance) => [scenario, step, disturbance] as const),
    ),
  ).filter((_, index) => index % SHARE === SEED);

  it.each(pairs)('%s, at %s: %s', async (scenario, step, disturbance) => {
    const outcome = await walk.walk(scenario, step, disturbance);
    expect(endsOf(disturbance)).toContain(outcome);
  });
});
