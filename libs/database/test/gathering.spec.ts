import { DatabaseUnavailable, Gathering } from '../src/index.js';

/** Doubles numbers; each run waits until it is let go. */
function aRun(atOnce?: number) {
  const runs: { pieces: readonly number[]; go: () => void }[] = [];
  const faulty = new Set<number>();
  let away = false;
  const gathering = new Gathering<number, number>(async (pieces) => {
    await new Promise<void>((resolve) => runs.push({ pieces, go: resolve }));
    if (away) throw new DatabaseUnavailable(new Error('away'));
    if (pieces.some((piece) => faulty.has(piece))) throw new Error('a piece is at fault');
    return pieces.map((piece) => piece * 2);
  }, atOnce);
  const begun = async (count: number): Promise<void> => {
    while (runs.length < count) await new Promise((resolve) => setImmediate(resolve));
  };
  const goOn = async (count: number): Promise<readonly number[]> => {
    await begun(count);
    runs[count - 1]?.go();
    return runs[count - 1]?.pieces ?? [];
  };
  return { gathering, faulty, goOn, begun, leave: () => (away = true), runs };
}

describe('gathering', () => {
  it('runs at once what comes alone, and together what comes meanwhile, each with its own result', async () => {
    const { gathering, goOn, begun } = aRun();
    const first = gathering.add(1);
    await begun(1);
    const more = [2, 3, 4].map((piece) => gathering.add(piece));
    expect(await goOn(1)).toEqual([1]);
    expect(await first).toBe(2);
    expect(await goOn(2)).toEqual([2, 3, 4]);
    expect(await Promise.all(more)).toEqual([4, 6, 8]);
  });

  it('keeps places apart, and performs as many groups of one side by side as it may', async () => {
    const { gathering, goOn, begun } = aRun(2);
    const first = gathering.add(1, 'here');
    await begun(1);
    const second = gathering.add(2, 'here');
    await begun(2);
    const waiting = [3, 4].map((piece) => gathering.add(piece, 'here'));
    const elsewhere = gathering.add(5, 'there');
    expect(await goOn(3)).toEqual([5]);
    expect(await elsewhere).toBe(10);
    expect(await goOn(2)).toEqual([2]);
    expect(await goOn(4)).toEqual([3, 4]);
    expect(await goOn(1)).toEqual([1]);
    expect(await Promise.all([first, second, ...waiting])).toEqual([2, 4, 6, 8]);
  });

  it('gives nobody a result of a run that began before the call', async () => {
    const { gathering, goOn, begun, runs } = aRun();
    void gathering.add(1);
    await begun(1);
    void gathering.add(1);
    await goOn(1);
    expect(await goOn(2)).toEqual([1]);
    expect(runs).toHaveLength(2);
  });

  it('tells of a fault only whose it is', async () => {
    const { gathering, faulty, goOn, begun } = aRun();
    faulty.add(3);
    const all = Promise.allSettled([2, 3, 4].map((piece) => gathering.add(piece)));
    expect(await goOn(1)).toEqual([2, 3, 4]);
    for (const run of [2, 3, 4]) await goOn(run);
    expect((await all).map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    const later = gathering.add(5);
    await begun(5);
    await goOn(5);
    expect(await later).toBe(10);
  });

  it('does not try piece by piece while the database is away', async () => {
    const { gathering, leave, goOn, runs } = aRun();
    leave();
    const all = Promise.allSettled([1, 2, 3].map((piece) => gathering.add(piece)));
    await goOn(1);
    expect((await all).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    expect(runs).toHaveLength(1);
  });
});
