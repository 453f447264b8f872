// Runs inside k6: sends at a steady arrival rate, and beside them people who are suppressed while mail to them is under
// way. The address says when its send was asked for, so that whoever takes the mail can tell how long it was on its way.
import { check } from 'k6';
import exec from 'k6/execution';
import http from 'k6/http';
import { arrivals, figuresOf } from '../arrivals.k6.js';

export { handleSummary } from '../arrivals.k6.js';

const { TARGET, KEY, RATE, SUPPRESSIONS, RUN } = __ENV;
// A server that is overrun answers thousands of times alike: each caller says so once.
let told = false;
const tell = (text) => {
  if (!told) console.error(text);
  told = true;
};
const CALLS = ['send', 'suppression', 'send to be suppressed'];

export const options = {
  ...figuresOf(CALLS, { checks: true }),
  scenarios: {
    sends: arrivals(RATE, { exec: 'send', maxVUs: 400 }),
    suppressions: arrivals(SUPPRESSIONS, { exec: 'suppress', maxVUs: 400 }),
  },
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
