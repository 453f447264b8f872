import { replayByCalls } from './replay-by-calls.ts';

function letters(pending: number, most: number) {
  const left = { pending, calls: 0 };
  const call = (): Promise<{ matched: number; truncated: boolean }> => {
    left.calls += 1;
    const matched = Math.min(most, left.pending);
    left.pending -= matched;
    return Promise.resolve({ matched, truncated: left.pending > 0 });
  };
  return { left, call };
}

describe('replaying all letters', () => {
  it('calls until none is left, and tells how far it is', async () => {
    const { left, call } = letters(25, 10);
    const told: number[] = [];
    const done = await replayByCalls(call, new AbortController().signal, (sum) => told.push(sum));
    expect(done).toEqual({ sum: 25, stopped: false });
    expect(told).toEqual([10, 20, 25]);
    expect(left).toEqual({ pending: 0, calls: 3 });
  });

  it('leaves the others as they are once it is canceled', async () => {
    const { left, call } = letters(25, 10);
    const end = new AbortController();
    const done = await replayByCalls(call, end.signal, () => end.abort());
    expect(done).toEqual({ sum: 10, stopped: true });
    expect(left).toEqual({ pending: 15, calls: 1 });
  });

  it('is whole where it was canceled with the last call', async () => {
    const { call } = letters(5, 10);
    const end = new AbortController();
    expect(await replayByCalls(call, end.signal, () => end.abort())).toEqual({ sum: 5, stopped: false });
  });
});
