// Runs inside k6: reads of pages by name, in turn, at a steady arrival rate; latencies by name.
import { check } from 'k6';
import exec from 'k6/execution';
import http from 'k6/http';
import { Counter } from 'k6/metrics';
import { arrivals, figuresOf } from './arrivals.k6.js';

export { handleSummary } from './arrivals.k6.js';

const { TARGET, KEY, RATE, SAMPLE } = __ENV;
// Each call: a name, the paths that it takes in turn, how many of each round it is, and what the answer must hold.
const { calls } = JSON.parse(open(SAMPLE));
const round = calls.flatMap((call) => Array.from({ length: call.share }, () => call));

export const options = {
  ...figuresOf(calls.map(({ name }) => name)),
  scenarios: { reads: arrivals(RATE, { preAllocatedVUs: 150, maxVUs: 300 }) },
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
