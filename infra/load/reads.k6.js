// Runs inside k6: reads of pages by name, in turn, at a steady arrival rate; latencies by name.
import { check } from 'k6';
import exec from 'k6/execution';
import http from 'k6/http';
import { Counter } from 'k6/metrics';

const { TARGET, KEY, RATE, DURATION, SAMPLE, SUMMARY } = __ENV;
// Each call: a name, the paths that it takes in turn, how many of each round it is, and what the answer must hold.
const { calls } = JSON.parse(open(SAMPLE));
const round = calls.flatMap((call) => Array.from({ length: call.share }, () => call));

export const options = {
  summaryTrendStats: ['count', 'med', 'p(95)', 'max'],
  systemTags: ['status'],
  // A threshold that always holds makes k6 report the figures of each call.
  thresholds: Object.fromEntries(calls.map(({ name }) => [`http_req_duration{call:${name}}`, ['max>=0']])),
  scenarios: {
    reads: {
      executor: 'constant-arrival-rate',
      rate: Number(RATE),
      timeUnit: '1s',
      duration: `${DURATION}s`,
      preAllocatedVUs: 150,
      maxVUs: 300,
      gracefulStop: '10s',
    },
  },
};

// Pages that name a source as unreachable beyond the expected ones: late, not wrong.
const incomplete = new Counter('incomplete');

const right = ({ status, least = 0, unreachable = [] }, response) => {
  if (response.status !== status) return false;
  if (status === 204) return true;
  const { data, unreachable: named = [] } = response.json();
  if (!unreachable.every((source) => named.includes(source))) return false;
  if (named.length > unreachable.length) {
    incomplete.add(1);
    return true;
  }
  return data === undefined || data.length >= least;
};

export default function () {
  const n = exec.scenario.iterationInTest;
  const call = round[n % round.length];
  const turn = Math.floor(n / round.length) % call.requests.length;
  const { method = 'GET', path, body } = call.requests[turn];
  const response = http.request(method, TARGET + path, body === undefined ? null : JSON.stringify(body), {
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
    tags: { call: call.name },
  });
  if (!check(response, { [call.name]: (answer) => right(call, answer) }))
    console.error(`${call.name}: ${response.status} ${String(response.body).slice(0, 300)}`);
}

export function handleSummary(data) {
  return { [SUMMARY]: JSON.stringify(data.metrics) };
}
