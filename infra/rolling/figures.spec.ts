import { figuresOf, tableOf } from './figures.ts';

describe('the figures of a restart', () => {
  const window = { name: 'core', from: 1_000, to: 2_000, endedWithinMs: 3_100, orderly: true };
  const attempts = [
    { at: 900, ms: 5, id: 'before' },
    { at: 1_000, ms: 20, id: 'a' },
    { at: 1_500, ms: 40, hiccup: '503 queue_unavailable' },
    { at: 1_990, ms: 10, id: 'b' },
    { at: 2_000, ms: 90, hiccup: 'after' },
  ];
  const reads = [
    { at: 1_200, ms: 60, failure: undefined },
    { at: 1_300, ms: 7, failure: 'connection broken /v1/crm/notes' },
  ];
  const effects = {
    stored: [
      { id: 'before', at: 1_010 },
      { id: 'a', at: 1_100 },
      { id: 'b', at: 2_400 },
      { id: 'of somebody else', at: 1_900 },
    ],
    points: [{ id: 'a', at: 1_300 }],
    mail: [],
  };

  it('are of the requests that ended in it and of the events that were accepted in it', () => {
    const figures = figuresOf(window, { attempts }, reads, effects);
    expect(figures).toMatchObject({
      requests: 5,
      failures: ['503 queue_unavailable', 'connection broken /v1/crm/notes'],
      slowest: 60,
      stored: 410,
      points: 300,
      mail: 0,
      standstill: 800,
    });
  });

  it('are a line of the table each', () => {
    const [head, line] = tableOf([figuresOf(window, { attempts }, reads, effects)]);
    expect(head).toMatch(/^restarted +requests +failed +slowest/);
    expect(line).toMatch(/^core +5 +2 +60 ms +410 ms +300 ms +0 ms +800 ms +3100 ms$/);
  });
});
