import { setImmediate as turn, setTimeout as pause } from 'node:timers/promises';
import { ChangeFeed, FEED_PACE } from './change-feed.js';
import { CredentialCache } from './credential-cache.js';
import { monotonic } from './monotonic.js';
import { FixtureClock, FixtureRegistry } from './registry.fixture.js';

describe('the change feed', () => {
  it('is fresh from the first good read on, until 750 ms after the last one began', async () => {
    const clock = new FixtureClock();
    const registry = new FixtureRegistry();
    const feed = new ChangeFeed(registry, new CredentialCache(), clock);
    expect([feed.isFresh(clock.now()), feed.run]).toEqual([false, 0]);
    expect(await feed.read()).toBe(true);
    expect([feed.isFresh(clock.now() + 750), feed.isFresh(clock.now() + 751), feed.run]).toEqual([
      true,
      false,
      1,
    ]);
    await feed.read();
    expect(feed.run).toBe(1);
  });

  it('begins a new run when its cursor means nothing any more', async () => {
    const registry = new FixtureRegistry();
    const feed = new ChangeFeed(registry, new CredentialCache(), new FixtureClock());
    await feed.read();
    registry.replace();
    await feed.read();
    expect(feed.run).toBe(2);
  });

  it('says that the registry is down, and that it is back', async () => {
    const registry = new FixtureRegistry();
    const feed = new ChangeFeed(registry, new CredentialCache(), new FixtureClock());
    await feed.read();
    registry.down = true;
    expect([await feed.read(), feed.isDown]).toEqual([false, true]);
    registry.down = false;
    expect([await feed.read(), feed.isDown]).toEqual([true, false]);
  });

  it('reads on by itself, through an outage, until it is stopped', async () => {
    const registry = new FixtureRegistry();
    const pace = { ...FEED_PACE, every: 1, timeout: 50, fresh: 3 };
    const feed = new ChangeFeed(registry, new CredentialCache(), monotonic, pace);
    const readsBeyond = async (count: number) => {
      while (registry.reads <= count) await turn();
    };
    feed.start();
    await readsBeyond(3);
    registry.down = true;
    await readsBeyond(registry.reads + 3);
    expect(feed.isDown).toBe(true);
    registry.down = false;
    await readsBeyond(registry.reads + 3);
    await feed.stop();
    expect(feed.isDown).toBe(false);
    const { reads } = registry;
    for (let turns = 0; turns < 100; turns += 1) await turn();
    expect(registry.reads).toBe(reads);
  });

  it('reads seldom where nobody asks, and at once when somebody does', async () => {
    const registry = new FixtureRegistry();
    const pace = { ...FEED_PACE, every: 1, quietEvery: 3_600_000, quietAfter: 5, fresh: 30 };
    const feed = new ChangeFeed(registry, new CredentialCache(), monotonic, pace);
    const readsAreOver = async () => {
      for (let before = -1; before !== registry.reads;) {
        before = registry.reads;
        await pause(50);
      }
    };
    feed.start();
    await readsAreOver();
    const { reads } = registry;
    expect(reads).toBeGreaterThan(0);
    expect(feed.isFresh(monotonic.now())).toBe(false);
    while (!feed.isFresh(monotonic.now())) await turn();
    expect(registry.reads).toBeGreaterThan(reads);
    await feed.stop();
  });
});
