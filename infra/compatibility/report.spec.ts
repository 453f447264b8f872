import { type Row, isCompatible, tableOf } from './report.ts';

const aRow = (over: Partial<Row> = {}): Row => ({
  part: 'core',
  run: '3 files',
  verdict: 'ok',
  details: [],
  ...over,
});

describe('the report of two releases', () => {
  it('is compatible while all was judged and nothing is broken', () => {
    expect(isCompatible([aRow(), aRow({ verdict: 'nothing to do' })])).toBe(true);
    expect(isCompatible([aRow(), aRow({ verdict: 'inconclusive' })])).toBe(false);
    expect(isCompatible([aRow(), aRow({ verdict: 'broken' })])).toBe(false);
    expect(isCompatible([])).toBe(false);
  });

  it('is a table, with what went wrong below it', () => {
    expect(tableOf([aRow(), aRow({ part: 'loyalty', verdict: 'broken', details: ['one', 'two'] })])).toEqual([
      'Part     Run      Verdict',
      'core     3 files  ok',
      'loyalty  3 files  broken',
      '',
      'loyalty:',
      '  one',
      '  two',
    ]);
  });
});
