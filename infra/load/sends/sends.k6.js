// Runs inside k6: sends at a steady arrival rate, and beside them people who are suppressed while mail to them is under
// way. The address says when its send was asked for, so that whoever takes the mail can tell how long it was on its way.
import { check } from 'k6';
import exec from 'k6/execution';
import http from 'k6/http';

const { TARGET, KEY, RATE, SUPPRESSIONS, DURATION, RUN, SUMMARY } = __ENV;
// A server that is overrun answers thousands of times alike: each caller says so once.
let told = false;
const tell = (text) => {
  if (!told) console.error(text);
  told = true;
};
const CALLS = ['send', 'suppression', 'send to be suppressed'];
const steady = (name, rate) => ({
  executor: 'constant-arrival-rate',
  exec: name,
  rate: Number(rate),
  timeUnit: '1s',
  duration: `${DURATION}s`,
  preAllocatedVUs: 50,
  maxVUs: 400,
  gracefulStop: '10s',
});

export const options = {
  summaryTrendStats: ['count', 'med', 'p(95)', 'max'],
  systemTags: ['status'],
  // A threshold that always holds makes k6 report the figures of each call.
  thresholds: Object.fromEntries(
    CALLS.flatMap((name) => [
      [`http_req_duration{call:${name}}`, ['max>=0']],
      [`checks{call:${name}}`, ['rate>=0']],
    ]),
  ),
  scenarios: { sends: steady('send', RATE), suppressions: steady('suppress', SUPPRESSIONS) },
};

const post = (call, path, body, key) => {
  const headers = {
    authorization: `Bearer ${KEY}`,
    'content-type': 'application/json',
    'idempotency-key': key,
  };
  return http.post(TARGET + path, JSON.stringify(body), { headers, tags: { call } });
};

const mail = (call, kind) => {
  const n = exec.scenario.iterationInTest;
  const address = `load-${RUN}-${kind}-${n}-${Date.now()}@example.com`;
  const body = {
    channel: 'email',
    recipient: { address },
    content: {
      subject: 'Your order {{ data.order }}',
      html: '<h1>Thank you, {{ data.name }}</h1><p>Your order <b>{{ data.order }}</b> is on its way.</p>',
    },
    data: { order: `A-${n}`, name: 'Ana' },
  };
  const answer = post(call, '/v1/messaging/sends', body, `${RUN}-${kind}-${n}`);
  const ok = check(answer, { [call]: ({ status }) => status === 202 }, { call });
  if (!ok) tell(`${call}: ${answer.status} ${answer.body}`);
  return address;
};

export function send() {
  mail('send', 'sent');
}

export function suppress() {
  const address = mail('send to be suppressed', 'stopped');
  const body = { channel: 'email', address, reason: 'manual' };
  const answer = post('suppression', '/v1/messaging/suppressions', body, address);
  const call = 'suppression';
  if (!check(answer, { [call]: ({ status }) => status === 201 }, { call }))
    tell(`${call}: ${answer.status} ${answer.body}`);
}

export function handleSummary(data) {
  return { [SUMMARY]: JSON.stringify(data.metrics) };
}
