import { leftOut } from './command.ts';
import { callLines, depthLine, figuresOf } from './report.ts';

const metric = (count: number, med: number, p95: number) => ({
  values: { count, med, 'p(95)': p95, max: p95 * 2 },
});
const metrics = {
  http_req_duration: metric(30, 5, 9),
  'http_req_duration{call:contacts page 1}': metric(10, 10, 40),
  'http_req_duration{call:contacts page 2000}': metric(10, 15, 60),
  'http_req_duration{call:events page 1}': metric(10, 20, 150),
  'http_req_duration{call:events page 2000}': metric(5, 20, 100),
  'http_req_duration{call:never made}': metric(0, 0, 0),
};

it('reads the figures of the calls that were made, the slowest first', () => {
  expect(figuresOf(metrics).map(({ name, p95 }) => [name, p95])).toEqual([
    ['events page 1', 150],
    ['events page 2000', 100],
    ['contacts page 2000', 60],
    ['contacts page 1', 40],
  ]);
});

it('names what is over the aim, and compares page 2,000 with page 1', () => {
  const figures = figuresOf(metrics);
  expect(callLines(figures, 150).at(-1)).toBe('  p95 not below 150 ms: events page 1');
  expect(depthLine(figures)).toContain(
    'takes 1.50 times what page 1 takes, of contacts; 1.00 times, of events',
  );
  expect(callLines(figures, 151).at(-1)).toBe("  every call's p95 is below 151 ms");
});

it('tells which routes of core no call is of', () => {
  const routes = ['GET /v1/core/contacts', 'GET /v1/core/new', 'POST /v1/core/track', 'GET /v1/crm/notes'];
  expect(leftOut(routes)).toEqual(['GET /v1/core/new']);
});
