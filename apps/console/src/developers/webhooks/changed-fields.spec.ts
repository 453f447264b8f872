import { changedFields } from './changed-fields.ts';

describe('what somebody else changed meanwhile', () => {
  const before = { name: 'Shop', url: 'https://a.example', events: ['core.*', 'crm.*'] };

  it('is said by field, with what it was', () => {
    const after = { ...before, url: 'https://b.example', events: ['crm.*'] };
    expect(changedFields(before, after)).toEqual([
      { name: 'url', before: 'https://a.example', after: 'https://b.example' },
      { name: 'events', before: 'core.*, crm.*', after: 'crm.*' },
    ]);
  });

  it('is nothing where only the order is another', () => {
    expect(changedFields(before, { ...before, events: ['crm.*', 'core.*'] })).toEqual([]);
  });
});
