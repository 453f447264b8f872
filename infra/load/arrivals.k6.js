// Runs inside k6: what the scripts of all loads say of themselves. Every one is an open model (constant arrival rate),
// so that a slow server cannot slow the load down.
const { DURATION, SUMMARY } = __ENV;

/** A scenario that begins so many iterations a second, for as long as the load lasts. */
export const arrivals = (rate, settings = {}) => ({
  executor: 'constant-arrival-rate',
  rate: Number(rate),
  timeUnit: '1s',
  duration: `${DURATION}s`,
  preAllocatedVUs: 50,
  maxVUs: 200,
  gracefulStop: '10s',
  ...settings,
});

/** Figures of each of these calls, as their requests name them in the tag `call`; where asked for, of its checks too. */
export const figuresOf = (names, { checks = false } = {}) => ({
  summaryTrendStats: ['count', 'med', 'p(95)', 'max'],
  systemTags: ['status'],
  // A threshold that always holds makes k6 report the figures of each call.
  thresholds: Object.fromEntries(
    names.flatMap((name) => [
      [`http_req_duration{call:${name}}`, ['max>=0']],
      ...(checks ? [[`checks{call:${name}}`, ['rate>=0']]] : []),
    ]),
  ),
});

/** Figures of all requests together. */
export const FIGURES = {
  discardResponseBodies: true,
  summaryTrendStats: ['med', 'p(95)', 'p(99)', 'max'],
  systemTags: ['status'],
};

/** Writes all figures where the command looks for them. */
export function handleSummary(data) {
  return { [SUMMARY]: JSON.stringify(data.metrics) };
}
