import { differencesOf } from './differences.ts';

describe('what somebody else has changed meanwhile', () => {
  it('is told field by field, inside of objects too, and not what the server alone writes', () => {
    const before = { name: 'Sur', settings: { session: { idle_minutes: 30 } }, tags: ['a'], updated_at: '1' };
    const now = {
      name: 'Sur',
      settings: { session: { idle_minutes: 15 } },
      tags: ['a', 'b'],
      updated_at: '2',
    };
    expect(differencesOf(before, now)).toEqual([
      { field: 'settings.session.idle_minutes', before: '30', now: '15' },
      { field: 'tags', before: '["a"]', now: '["a","b"]' },
    ]);
  });

  it('is nothing where only the time of the change differs', () => {
    expect(differencesOf({ name: 'Sur', updated_at: '1' }, { name: 'Sur', updated_at: '2' })).toEqual([]);
  });
});
