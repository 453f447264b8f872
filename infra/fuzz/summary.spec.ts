import { seedOf, summarize } from './summary.ts';

const report = {
  operations: { selected: 3, total: 3, tested: 3 },
  test_cases: { generated: 40 },
  failures: [{ code: 'ST101', title: 'Server error', count: 1, operations: ['GET /v1/core/usage'] }],
};

it('names each finding and the routes that it was found on', () => {
  expect(summarize(report, '7')).toEqual([
    '',
    '3 of 3 routes, 40 cases (seed 7): 1 findings',
    '  ST101 Server error: 1',
    '    GET /v1/core/usage',
  ]);
  expect(summarize({ ...report, failures: [] }, '7')[1]).toContain('nothing found');
});

it('keeps every digit of the seed', () => {
  expect(seedOf('{"seed": 333892472846448681776750359551514365613, "x": 1}')).toBe(
    '333892472846448681776750359551514365613',
  );
});
