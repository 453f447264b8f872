import { DatabaseUnavailable } from '@customer-platform/database';
import { Together } from './together.js';

/** Doubles numbers; each run waits until it is let go. */
function aRun() {
  const runs: { pieces: readonly number[]; go: () => void }[] = [];
  const faulty = new Set<number>();
  let away = false;
  const together = new Together<number, number>(async (pieces) => {
    await new Promise<void>((resolve) => runs.push({ pieces, go: resolve }));
    if (away) throw new DatabaseUnavailable(new Error('away'));
    if (pieces.some((piece) => faulty.has(piece))) throw new Error('a piece is at fault');
    return pieces.map((piece) => piece * 2);
  });
  const begun = async (count: number): Promise<void> => {
    while (runs.length < count) await new Promise((resolve) => setImmediate(resolve));
  };
  const goOn = async (count: number): Promise<readonly number[]> => {
    await begun(count);
    runs[count - 1]?.go();
    return runs[count - 1]?.pieces ?? [];
  };
  return { together, faulty, goOn, begun, leave: () => (away = true), runs };
}

describe('Together', () => {
  it('runs at once what comes alone, and together what comes meanwhile, each with its own result', async () => {
    const { together, goOn, begun } = aRun();
    const first = together.add(1);
    await begun(1);
    const more = [2, 3, 4].map((piece) => together.add(piece));
    expect(await goOn(1)).toEqual([1]);
    expect(await first).toBe(2);
    expect(await goOn(2)).toEqual([2, 3, 4]);
    expect(await Promise.all(more)).toEqual([4, 6, 8]);
  });

  it('gives nobody a result of a run that began before the call', async () => {
    const { together, goOn, begun, runs } = aRun();
    void together.add(1);
    await begun(1);
    void together.add(1);
    await goOn(1);
    expect(await goOn(2)).toEqual([1]);
    expect(runs).toHaveLength(2);
  });

  it('tells of a fault only whose it is', async () => {
    const { together, faulty, goOn, begun } = aRun();
    faulty.add(3);
    const all = Promise.allSettled([2, 3, 4].map((piece) => together.add(piece)));
    expect(await goOn(1)).toEqual([2, 3, 4]);
    for (const run of [2, 3, 4]) await goOn(run);
    expect((await all).map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    const later = together.add(5);
    await begun(5);
    await goOn(5);
    expect(await later).toBe(10);
  });

  it('does not try piece by piece while the database is away', async () => {
    const { together, leave, goOn, runs } = aRun();
    leave();
    const all = Promise.allSettled([1, 2, 3].map((piece) => together.add(piece)));
    await goOn(1);
    expect((await all).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    expect(runs).toHaveLength(1);
  });
});
