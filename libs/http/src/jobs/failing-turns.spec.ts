import { FailingTurns } from './failing-turns.js';

describe('an organization whose piece failed', () => {
  let now = 0;
  const failing = new FailingTurns(() => now);
  const fails = (id: string | undefined, ms: number): Promise<void> =>
    expect(
      failing.note(
        () => id,
        () => {
          now += ms;
          return Promise.reject(new Error('failed'));
        },
      ),
    ).rejects.toThrow('failed');

  it('lets others come first for twice as long as that took', async () => {
    await fails('slow', 15_000);
    now += 29_999;
    expect(failing.resting()).toEqual(['slow']);
    now += 1;
    expect(failing.resting()).toEqual([]);
  });

  it('lets others come first for a moment however quick it failed, and not once a piece came through', async () => {
    await fails('quick', 1);
    await fails('mended', 1);
    expect(failing.resting()).toEqual(['quick', 'mended']);
    expect(
      await failing.note(
        () => 'mended',
        () => Promise.resolve('done'),
      ),
    ).toBe('done');
    expect(failing.resting()).toEqual(['quick']);
    now += 100;
    expect(failing.resting()).toEqual([]);
  });

  it('is nobody where no piece was found', async () => {
    await fails(undefined, 1);
    expect(failing.resting()).toEqual([]);
  });
});
