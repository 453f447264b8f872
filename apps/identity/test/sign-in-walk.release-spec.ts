import { SignInWalk } from '../src/sign-in/sign-in-walk.fixture.js';
import { HttpGround } from '../src/sign-in/walk-by-http.fixture.js';
import { ChromiumGround } from '../src/sign-in/walk-in-chromium.fixture.js';
import { BROWSER_PAIRS, endsOf, PAIRS } from '../src/sign-in/walk-pairs.fixture.js';

const LONGEST_MS = 1_800_000;

describe.each([
  ['over HTTP, each of its steps disturbed in each way', HttpGround, PAIRS],
  ['in Chromium, each of its steps disturbed in each way of a browser', ChromiumGround, BROWSER_PAIRS],
] as const)('the whole sign-in %s', (_, ground, pairs) => {
  let walk: SignInWalk;
  beforeAll(async () => {
    walk = new SignInWalk(await ground.start());
  });
  afterAll(() => walk.end());

  it(
    'ends signed in, or on a page that says why and leads on',
    async () => {
      const faults: string[] = [];
      for (const pair of pairs) {
        const outcome = await walk.walk(pair).catch(String);
        process.stdout.write(`${pair.join(' | ')} | ${outcome}\n`);
        if (!endsOf(pair[2]).some((end) => end === outcome)) faults.push(`${pair.join(' | ')}: ${outcome}`);
      }
      process.stdout.write(`${String(pairs.length)} pairs were met\n`);
      expect(faults).toEqual([]);
    },
    LONGEST_MS,
  );
});
