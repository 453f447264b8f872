import { Gathering } from './gathering.js';

function gathering(options: { enough?: number; parallel?: number; forMs?: number } = {}) {
  const runs: { pieces: readonly string[]; finish: PromiseWithResolvers<void> }[] = [];
  const subject = new Gathering<string>({
    forMs: options.forMs ?? 1,
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

describe('Gathering', () => {
  it('does together what comes together, in order', async () => {
    const { subject, begun } = gathering();
    const both = Promise.all([subject.add('a', 1), subject.add('b', 1)]);
    const run = await begun(1);
    expect(run?.pieces).toEqual(['a', 'b']);
    run?.finish.resolve();
    await both;
  });

  it('does not wait once there is enough, and takes no more than enough', async () => {
    const { subject, runs, begun } = gathering({ enough: 3, forMs: 60_000 });
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
    const { subject, runs, begun } = gathering({ enough: 1, parallel: 2 });
    const all = Promise.all(['a', 'b', 'c'].map((piece) => subject.add(piece, 1)));
    expect(runs.map(({ pieces }) => pieces)).toEqual([['a'], ['b']]);
    runs[1]?.finish.resolve();
    (await begun(3))?.finish.resolve();
    runs[0]?.finish.resolve();
    await all;
  });

  it('tells each whose run failed, and goes on', async () => {
    const { subject, runs, begun } = gathering({ enough: 1 });
    const failing = subject.add('a', 1);
    const next = subject.add('b', 1);
    runs[0]?.finish.reject(new Error('away'));
    await expect(failing).rejects.toThrow('away');
    (await begun(2))?.finish.resolve();
    await next;
  });
});
