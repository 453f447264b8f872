import { unreachableSources, type TimelinePage } from './unreachable-sources.ts';

describe('a source that does not answer', () => {
  it('lacks items from the newest on, down to the oldest that is shown', () => {
    expect(unreachableSources([page(['09', '08'], ['loyalty'])])).toEqual([
      { source: 'loyalty', before: undefined, since: day('08') },
    ]);
  });

  it('lacks them from where it fell silent', () => {
    const unreachable = unreachableSources([page(['09', '08'], []), page(['07', '06'], ['messaging'])]);
    expect(unreachable).toEqual([{ source: 'messaging', before: day('08'), since: day('06') }]);
  });

  it('lacks nothing once it has answered for a later page, which brings what the earlier lacked', () => {
    expect(unreachableSources([page(['09'], ['core']), page(['08'], [])])).toEqual([]);
  });

  it('lacks all that is older, too, where the walk is at its end', () => {
    expect(unreachableSources([page(['09', '08'], ['core'], null)])).toEqual([
      { source: 'core', before: undefined, since: undefined },
    ]);
  });

  it('may be the only one, with nothing to show', () => {
    expect(unreachableSources([page([], ['core'], null)])).toEqual([
      { source: 'core', before: undefined, since: undefined },
    ]);
  });
});

function page(
  days: string[],
  unreachable: TimelinePage['unreachable'],
  next_cursor: string | null = 'next',
): TimelinePage {
  const data = days.map((each) => ({ occurred_at: day(each) }));
  return { data, page: { limit: 2, next_cursor }, unreachable } as unknown as TimelinePage;
}

function day(number: string): string {
  return `2026-11-${number}T00:00:00.000Z`;
}
