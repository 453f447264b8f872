import { batchedReads } from './batched-reads.ts';

describe('names that are asked for at once', () => {
  it('are read by one call, each id once, and none is null', async () => {
    const calls: (readonly string[])[] = [];
    const nameOf = batchedReads(100, async (ids) => {
      calls.push(ids);
      return Promise.resolve(new Map([['a', 'Ana']]));
    });
    expect(await Promise.all([nameOf('a'), nameOf('b'), nameOf('a')])).toEqual(['Ana', null, 'Ana']);
    expect(await nameOf('a')).toBe('Ana');
    expect(calls).toEqual([['a', 'b'], ['a']]);
  });

  it('are read by as many calls as a list takes ids, of which one may fail', async () => {
    const nameOf = batchedReads<string>(2, async (ids) => {
      if (ids.includes('c')) return Promise.reject(new Error('offline'));
      return Promise.resolve(new Map(ids.map((id) => [id, id.toUpperCase()])));
    });
    const asked = await Promise.allSettled(['a', 'b', 'c'].map(nameOf));
    expect(asked.map((each) => (each.status === 'fulfilled' ? each.value : 'failed'))).toEqual([
      'A',
      'B',
      'failed',
    ]);
  });
});
