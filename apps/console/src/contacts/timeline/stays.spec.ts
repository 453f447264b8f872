import { readStays, TRUSTED_MS, type Status, type Stays } from './stays.ts';

const segment = (id: string, member_count = 0) => ({
  id,
  name: `Segment ${id}`,
  state: 'ready' as const,
  rule_version: 1,
  member_count,
  evaluated_at: null,
});
const AT = '2026-11-01T10:00:00.000Z';
const BOTH: Status[] = ['current', 'left'];

let asked: string[];
beforeEach(() => {
  asked = [];
});

const ask = (id: string, status: Status) => {
  asked.push(`${id} ${status}`);
  return Promise.resolve(id === 'a' && status === 'current' ? [{ entered_at: AT, cause: 'event' }] : []);
};
const first = async (ids: string[], statuses = BOTH): Promise<Stays> => {
  const segments = ids.map((id) => segment(id));
  const { stays } = await readStays({ segments, statuses, before: undefined, ask, now: 0 });
  asked = [];
  return stays;
};

describe('the stays of a contact', () => {
  it('are asked of each segment', async () => {
    const segments = [segment('a'), segment('b')];
    const { stays, silent } = await readStays({ segments, statuses: BOTH, before: undefined, ask, now: 0 });
    expect(new Set(asked)).toEqual(new Set(['a current', 'a left', 'b current', 'b left']));
    expect(stays['a']?.current).toEqual([{ segmentId: 'a', name: 'Segment a', at: AT, cause: 'event' }]);
    expect(stays['b']?.current).toEqual([]);
    expect(silent).toBe(0);
  });

  it('are asked only for who is in it where no more is shown', async () => {
    const segments = [segment('a'), segment('b')];
    await readStays({ segments, statuses: ['current'], before: undefined, ask, now: 0 });
    expect(asked).toEqual(['a current', 'b current']);
  });

  it('are asked again of a segment that has moved, and not of one that is as it was', async () => {
    const before = await first(['a', 'b']);
    const segments = [segment('a', 1), { ...segment('b'), name: 'Renamed' }];
    const { stays } = await readStays({ segments, statuses: BOTH, before, ask, now: TRUSTED_MS - 1 });
    expect(asked).toEqual(['a current']);
    expect(stays['b']?.name).toBe('Renamed');
  });

  it('are asked again of all after a while, counted from when all was read', async () => {
    const before = await first(['a']);
    const moved = await readStays({ segments: [segment('a', 1)], statuses: BOTH, before, ask, now: 30_000 });
    asked = [];
    const segments = [segment('a', 1)];
    await readStays({ segments, statuses: BOTH, before: moved.stays, ask, now: TRUSTED_MS });
    expect(asked).toEqual(['a current', 'a left']);
  });

  it('are shown of those that answer; the others are counted', async () => {
    const halting = (id: string, status: Status) =>
      id === 'b' ? Promise.reject(new Error('busy')) : ask(id, status);
    const segments = [segment('a'), segment('b')];
    const reading = { segments, statuses: BOTH, before: undefined, ask: halting, now: 0 };
    const { stays, silent } = await readStays(reading);
    expect(Object.keys(stays)).toEqual(['a']);
    expect(silent).toBe(1);
  });

  it('are not there where no segment answers', async () => {
    const halting = () => Promise.reject(new Error('busy'));
    const reading = { segments: [segment('a')], statuses: BOTH, before: undefined, ask: halting, now: 0 };
    await expect(readStays(reading)).rejects.toThrow('busy');
  });
});
