import { retentionChange, retentionOf, shortened } from './retention.ts';
import type { OrganizationRow } from './settings.ts';

const before = retentionOf({
  settings: { retention: { events_days: 365, dead_letters_days: null } },
} as OrganizationRow);

describe('a change of what is kept for how long', () => {
  it('holds what was changed, and clears what was emptied', () => {
    expect(retentionChange(before, before)).toBeUndefined();
    expect(retentionChange(before, { ...before, events_days: ' 365 ' })).toBeUndefined();
    expect(retentionChange(before, { ...before, events_days: '', sends_days: '30' })).toEqual({
      settings: { retention: { events_days: null, sends_days: 30 } },
    });
  });

  it('tells of what more is removed', () => {
    expect(shortened(before, { ...before, events_days: '366' })).toEqual([]);
    expect(shortened(before, { ...before, events_days: '' })).toEqual([]);
    expect(shortened(before, { ...before, events_days: '30', dead_letters_days: '90' })).toEqual([
      'events',
      'deadLetters',
    ]);
  });
});
