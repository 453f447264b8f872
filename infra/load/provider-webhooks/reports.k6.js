// Runs inside k6: reports of a provider on messages it has taken, signed by Standard Webhooks, each event of each
// message and then all of them again; every fiftieth call is altered after it was signed.
import { check } from 'k6';
import crypto from 'k6/crypto';
import encoding from 'k6/encoding';
import exec from 'k6/execution';
import http from 'k6/http';
import { arrivals, figuresOf } from '../arrivals.k6.js';

export { handleSummary } from '../arrivals.k6.js';

const { SAMPLE, RATE } = __ENV;
const { url, secret, messageIds, events } = JSON.parse(open(SAMPLE));
const key = encoding.b64decode(secret.slice('whsec_'.length));
// A server that is overrun answers thousands of times alike: each caller says so once.
let told = false;
const tell = (text) => {
  if (!told) console.error(text);
  told = true;
};
const CALLS = ['report', 'altered report'];
const ALTERED_EVERY = 50;

export const options = { ...figuresOf(CALLS), scenarios: { reports: arrivals(RATE, { maxVUs: 400 }) } };

const report = (call, id, event, expected, occurredAt) => {
  const body = JSON.stringify({ provider_message_id: id, event, occurred_at: occurredAt });
  const at = String(Math.floor(Date.now() / 1000));
  const webhookId = `${id}-${exec.scenario.iterationInTest}`;
  const mac = crypto.hmac('sha256', key, `${webhookId}.${at}.${body}`, 'base64');
  const headers = {
    'content-type': 'application/json',
    'webhook-id': webhookId,
    'webhook-timestamp': at,
    'webhook-signature': `v1,${mac}`,
  };
  const sent = expected === 200 ? body : body.replace(event, 'complained');
  const response = http.post(url, sent, { headers, tags: { call } });
  if (!check(response, { [call]: ({ status }) => status === expected }))
    tell(`${call}: ${response.status} ${response.body}`);
};

export default function () {
  const n = exec.scenario.iterationInTest;
  // One after the other through the messages, and then the next event: what follows is far from what it follows.
  const id = messageIds[n % messageIds.length];
  const event = events[Math.floor(n / messageIds.length) % events.length];
  const now = new Date().toISOString();
  if (n % ALTERED_EVERY === ALTERED_EVERY - 1) report(CALLS[1], id, event, 401, now);
  report(CALLS[0], id, event, 200, now);
}
