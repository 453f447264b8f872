import { conflictsOf, mergedFields } from './merge-fields.ts';

const WERE = { name: 'A', subject: 'Hi', tags: ['a'], cap: null };

describe('two changes of the same thing', () => {
  it('are both kept where they are of different fields', () => {
    const theirs = { ...WERE, subject: 'Hello' };
    const mine = { ...WERE, name: 'B' };
    expect(conflictsOf(WERE, theirs, mine)).toEqual([]);
    expect(mergedFields(WERE, theirs, mine)).toEqual({ ...WERE, name: 'B', subject: 'Hello' });
  });

  it('are in conflict in the fields that both have changed, and not to the same', () => {
    const theirs = { ...WERE, name: 'C', tags: ['b'], subject: 'Hello' };
    const mine = { ...WERE, name: 'B', tags: ['b'] };
    expect(conflictsOf(WERE, theirs, mine)).toEqual(['name']);
    expect(mergedFields(WERE, theirs, mine)).toEqual({ ...WERE, name: 'B', tags: ['b'], subject: 'Hello' });
  });

  it('keep a field that only one of the forms has', () => {
    const were: { name: string; secret?: string } = { name: 'A' };
    expect(mergedFields(were, { name: 'A' }, { name: 'A', secret: 's' })).toEqual({ name: 'A', secret: 's' });
    expect(mergedFields({ name: 'A', secret: 's' }, { name: 'B', secret: 's' }, were)).toEqual({ name: 'B' });
  });

  it('compares what fields hold, not in which order', () => {
    const were = { formula: { per: 1, points: 2 } };
    const theirs = { formula: { points: 2, per: 1 } };
    expect(conflictsOf(were, theirs, { formula: { per: 3, points: 2 } })).toEqual([]);
  });
});
