import { FailingPieces, FailureAllowance } from './failing-pieces.js';

const LIMIT_MS = 15_000;
const MOST = 1_000;

const numbers = (count: number): number[] => Array.from({ length: count }, (_, at) => at);

/** Rows by number; those in `failing` fail, each time after so long. */
function aTable(rows: number[], failing: number[], failureMs = 0) {
  const waiting = new Set(rows);
  const faulty = new Set(failing);
  const tried: number[][] = [];
  const told: string[] = [];
  const state = { now: 0, away: false };
  const pieces = new FailingPieces<number>();
  const pass = ({ mostMs = Infinity, retries = true } = {}): Promise<{ done: number; ended: boolean }> =>
    pieces.pass({
      find: (known) => Promise.resolve([...waiting].filter((row) => !known.includes(row)).slice(0, MOST)),
      most: MOST,
      work: (some) => {
        tried.push([...some]);
        if (state.away) return Promise.reject(new RangeError('away'));
        if (some.some((row) => faulty.has(row))) {
          state.now += failureMs;
          return Promise.reject(new Error('refused'));
        }
        for (const row of some) waiting.delete(row);
        return Promise.resolve(some.length);
      },
      isAway: (error) => error instanceof RangeError,
      failed: (error) => told.push(String(error)),
      retries,
      allowance: new FailureAllowance(mostMs, () => state.now),
      stopping: () => false,
    });
  return { waiting, faulty, tried, told, state, pass };
}

describe('rows of which some fail', () => {
  it('are done but for those, however many they are, and are told once', async () => {
    const table = aTable(numbers(2_500), [3, 4, 2_400]);
    expect(await table.pass()).toEqual({ done: 2_497, ended: false });
    expect([...table.waiting]).toEqual([3, 4, 2_400]);
    expect(table.told).toEqual(['Error: refused']);
  });

  it('are tried again all at once, after those that nothing is known of', async () => {
    const table = aTable([0, 1, 2], [0, 1, 2]);
    await table.pass();
    table.faulty.clear();
    table.tried.length = 0;
    table.waiting.add(7).add(8);
    expect(await table.pass()).toEqual({ done: 5, ended: true });
    expect(table.tried).toEqual([
      [7, 8],
      [0, 1, 2],
    ]);
  });

  it('are left alone where it is not their time, and others beside them are not', async () => {
    const table = aTable([0, 1], [0]);
    await table.pass({ retries: false });
    table.faulty.clear();
    table.waiting.add(2);
    expect(await table.pass({ retries: false })).toEqual({ done: 1, ended: false });
    expect([...table.waiting]).toEqual([0]);
    expect(await table.pass()).toEqual({ done: 1, ended: true });
  });

  it('fail no longer than they may in a pass, and are gone on with where that ended', async () => {
    const table = aTable(numbers(8), [0], LIMIT_MS);
    const pass = () => table.pass({ mostMs: 2 * LIMIT_MS, retries: false });
    expect(await pass()).toEqual({ done: 0, ended: false });
    expect(table.tried.splice(0)).toEqual([numbers(8), numbers(4)]);
    expect(await pass()).toEqual({ done: 0, ended: false });
    expect(table.tried.splice(0)).toEqual([[0, 1], [0]]);
    expect(await pass()).toEqual({ done: 7, ended: false });
    expect(table.tried.splice(0)).toEqual([[1], [2, 3], [4, 5, 6, 7]]);
    expect([...table.waiting]).toEqual([0]);
  });

  it('keep waiting no row beside them while they are tried again one by one', async () => {
    const table = aTable(numbers(100), numbers(100), LIMIT_MS);
    for (let passes = 0; passes < 200; passes += 1) await table.pass({ mostMs: LIMIT_MS });
    table.waiting.add(200);
    expect(await table.pass({ mostMs: LIMIT_MS })).toEqual({ done: 1, ended: false });
  });

  it('wait in halves where the failure says nothing of them', async () => {
    const table = aTable(numbers(4), []);
    table.state.away = true;
    await expect(table.pass()).rejects.toThrow('away');
    table.state.away = false;
    expect(await table.pass()).toEqual({ done: 4, ended: true });
    expect(table.tried).toEqual([
      [0, 1, 2, 3],
      [0, 1],
      [2, 3],
    ]);
  });
});
