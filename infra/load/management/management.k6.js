// Runs inside k6: the calls of core's management, mixed, at a steady arrival rate; latencies by call.
import { check } from 'k6';
import exec from 'k6/execution';
import http from 'k6/http';
import { LIFE, READS, SEGMENT_LIFE, WRITES } from './calls.js';
import { arrivals, figuresOf } from '../arrivals.k6.js';

export { handleSummary } from '../arrivals.k6.js';

const { TARGET, KEY, RATE, SAMPLE, RUN } = __ENV;
const sample = JSON.parse(open(SAMPLE));
const left = (calls) => calls.filter(({ route }) => sample.routes.includes(route));
const reads = left(READS);
const whole = (calls) => (left(calls).length === calls.length ? calls : []);
const life = whole(LIFE);
const segmentLife = whole(SEGMENT_LIFE);
const writes = left(WRITES);
const names = [...reads, ...life, ...segmentLife, ...writes].map(({ name }) => name);

export const options = {
  ...figuresOf(names),
  scenarios: {
    mixed: arrivals(RATE),
    // Each segment is evaluated over all contacts: one life at a time, a step a second, beside the mix.
    segments: arrivals(1, { exec: 'leadSegment', preAllocatedVUs: 1, maxVUs: 1 }),
  },
};

const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' };
const send = (name, method, path, body, expected) => {
  const response = http.request(method, TARGET + path, body === undefined ? null : JSON.stringify(body), {
    headers,
    tags: { call: name },
  });
  const right = check(response, { [name]: (r) => r.status === expected });
  if (!right) console.error(`${name}: ${response.status} ${response.body}`);
  return response;
};

// Of this virtual user: what leads the life, and how far that has come.
let made;
let at = 0;

function live(steps, n) {
  const { name, method, path, body, status, kept } = steps[at];
  if (at === 0) made = { key: `${RUN}-${exec.vu.idInTest}-${n}` };
  const response = send(
    name,
    method,
    path(made, made.key),
    body === undefined ? undefined : body(made.key),
    status,
  );
  if (kept !== undefined) made[kept] = response.json('id');
  at = response.status === status ? (at + 1) % steps.length : 0;
}

export function leadSegment() {
  if (segmentLife.length > 0) live(segmentLife, exec.scenario.iterationInTest);
}

export default function () {
  const n = exec.scenario.iterationInTest;
  // Of ten calls six read, three lead a life on, one writes.
  const turn = n % 10;
  const round = Math.floor(n / 10);
  if (turn < 3 && life.length > 0) return live(life, n);
  if (turn === 3 && writes.length > 0) {
    const { name, method, path, body, status } = writes[round % writes.length];
    const [contact, other] = [0, 1].map((step) => sample.contacts[(round + step) % sample.contacts.length]);
    send(name, method, path(contact, sample), body(`${RUN}-${n}`, contact, other), status);
    return;
  }
  const { name, path } = reads[(round * 6 + turn) % reads.length];
  send(name, 'GET', path(sample, n), undefined, 200);
}
