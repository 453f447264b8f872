import { Batcher } from './batcher.js';

function aBatcher(options: { enough?: number; parallel?: number; waitMs?: number } = {}) {
  const runs: { pieces: readonly string[]; finish: PromiseWithResolvers<void> }[] = [];
  const subject = new Batcher<string>({
    waitMs: options.waitMs ?? 1,
    enough: options.enough ?? 10,
    parallel: options.parallel ?? 1,
    run: (pieces) => {
      const finish = Promise.withResolvers<void>();
      runs.push({ pieces, finish });
      return finish.promise;
    },
  });
  const begun = async (count: number) => {
    while (runs.length < count) await new Promise((resolve) => setTimeout(resolve, 1));
    return runs[count - 1];
  };
  return { subject, runs, begun };
}

describe('a batcher that waits for more', () => {
  it('does together what comes together, in order', async () => {
    const { subject, begun } = aBatcher();
    const both = Promise.all([subject.add('a', 1), subject.add('b', 1)]);
    const run = await begun(1);
    expect(run?.pieces).toEqual(['a', 'b']);
    run?.finish.resolve();
    await both;
  });

  it('does not wait once there is enough, and takes no more than enough', async () => {
    const { subject, runs, begun } = aBatcher({ enough: 3, waitMs: 60_000 });
    void subject.add('a', 2);
    void subject.add('b', 2);
    const rest = subject.add('c', 2);
    expect(runs.map(({ pieces }) => pieces)).toEqual([['a']]);
    runs[0]?.finish.resolve();
    (await begun(2))?.finish.resolve();
    expect(runs[1]?.pieces).toEqual(['b']);
    subject.hurry(1_000);
    (await begun(3))?.finish.resolve();
    await rest;
  });

  it('lets no more runs go on than allowed, and does what came meanwhile afterwards', async () => {
    const { subject, runs, begun } = aBatcher({ enough: 1, parallel: 2 });
    const all = Promise.all(['a', 'b', 'c'].map((piece) => subject.add(piece, 1)));
    expect(runs.map(({ pieces }) => pieces)).toEqual([['a'], ['b']]);
    runs[1]?.finish.resolve();
    (await begun(3))?.finish.resolve();
    runs[0]?.finish.resolve();
    await all;
  });

  it('tells each whose run failed, and goes on', async () => {
    const { subject, runs, begun } = aBatcher({ enough: 1 });
    const failing = subject.add('a', 1);
    const next = subject.add('b', 1);
    runs[0]?.finish.reject(new Error('away'));
    await expect(failing).rejects.toThrow('away');
    (await begun(2))?.finish.resolve();
    await next;
  });
});

/** Doubles numbers; each run waits until it is let go. */
function aDoubler(parallel = 1) {
  const runs: { pieces: readonly number[]; go: () => void }[] = [];
  const faulty = new Set<number>();
  let away = false;
  const batcher = new Batcher<number, number>({
    parallel,
    singlyAfter: (error) => !(error instanceof RangeError),
    isSlow: (error) => error instanceof Error && error.message === 'a piece is at fault',
    run: async (pieces) => {
      await new Promise<void>((resolve) => runs.push({ pieces, go: resolve }));
      if (away) throw new RangeError('away');
      if (pieces.some((piece) => faulty.has(piece))) throw new Error('a piece is at fault');
      return pieces.map((piece) => piece * 2);
    },
  });
  const begun = async (count: number): Promise<void> => {
    while (runs.length < count) await new Promise((resolve) => setImmediate(resolve));
  };
  const goOn = async (count: number): Promise<readonly number[]> => {
    await begun(count);
    runs[count - 1]?.go();
    return runs[count - 1]?.pieces ?? [];
  };
  return { batcher, faulty, goOn, begun, leave: () => (away = true), runs };
}

describe('a batcher of what comes meanwhile', () => {
  it('runs at once what comes alone, and together what comes meanwhile, each with its own result', async () => {
    const { batcher, goOn, begun } = aDoubler();
    const first = batcher.add(1);
    await begun(1);
    const more = [2, 3, 4].map((piece) => batcher.add(piece));
    expect(await goOn(1)).toEqual([1]);
    expect(await first).toBe(2);
    expect(await goOn(2)).toEqual([2, 3, 4]);
    expect(await Promise.all(more)).toEqual([4, 6, 8]);
  });

  it('keeps places apart, and performs as many groups of one side by side as it may', async () => {
    const { batcher, goOn, begun } = aDoubler(2);
    const first = batcher.add(1, 1, 'here');
    await begun(1);
    const second = batcher.add(2, 1, 'here');
    await begun(2);
    const waiting = [3, 4].map((piece) => batcher.add(piece, 1, 'here'));
    const elsewhere = batcher.add(5, 1, 'there');
    expect(await goOn(3)).toEqual([5]);
    expect(await elsewhere).toBe(10);
    expect(await goOn(2)).toEqual([2]);
    expect(await goOn(4)).toEqual([3, 4]);
    expect(await goOn(1)).toEqual([1]);
    expect(await Promise.all([first, second, ...waiting])).toEqual([2, 4, 6, 8]);
  });

  it('gives nobody a result of a run that began before the call', async () => {
    const { batcher, goOn, begun, runs } = aDoubler();
    void batcher.add(1);
    await begun(1);
    void batcher.add(1);
    await goOn(1);
    expect(await goOn(2)).toEqual([1]);
    expect(runs).toHaveLength(2);
  });

  it('tells of a fault only whose it is', async () => {
    const { batcher, faulty, goOn, begun } = aDoubler();
    faulty.add(3);
    const all = Promise.allSettled([2, 3, 4].map((piece) => batcher.add(piece)));
    expect(await goOn(1)).toEqual([2, 3, 4]);
    for (const run of [2, 3, 4]) await goOn(run);
    expect((await all).map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    const later = batcher.add(5);
    await begun(5);
    await goOn(5);
    expect(await later).toBe(10);
  });

  it('lets the rest fail where two in a row take long alone, and none beside one', async () => {
    const { batcher, faulty, goOn } = aDoubler();
    [2, 4, 5].forEach((slow) => faulty.add(slow));
    const all = Promise.allSettled([2, 3, 4, 5, 6].map((piece) => batcher.add(piece)));
    await goOn(1);
    for (const run of [2, 3, 4, 5]) await goOn(run);
    expect((await all).map(({ status }) => status)).toEqual([
      'rejected',
      'fulfilled',
      'rejected',
      'rejected',
      'rejected',
    ]);
  });

  it('goes on with others beside one that takes long alone, as many at once as batches may be', async () => {
    const { batcher, faulty, goOn, begun, runs } = aDoubler(2);
    faulty.add(1);
    const [slow, ...others] = [1, 2, 3, 4].map((piece) => batcher.add(piece));
    const failed = expect(slow).rejects.toThrow('at fault');
    await goOn(1);
    await begun(3);
    expect(runs.slice(1).map(({ pieces }) => pieces)).toEqual([[1], [2]]);
    for (const run of [3, 4, 5]) await goOn(run);
    expect(await Promise.all(others)).toEqual([4, 6, 8]);
    await goOn(2);
    await failed;
  });

  it('does not try item by item after a failure of all', async () => {
    const { batcher, leave, goOn, runs } = aDoubler();
    leave();
    const all = Promise.allSettled([1, 2, 3].map((piece) => batcher.add(piece)));
    await goOn(1);
    expect((await all).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    expect(runs).toHaveLength(1);
  });
});
