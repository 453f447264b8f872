// Runs inside k6: an open model (constant arrival rate), so that a slow server cannot slow the load down.
import { check } from 'k6';
import exec from 'k6/execution';
import http from 'k6/http';
import { Counter } from 'k6/metrics';
import { arrivals, FIGURES } from './arrivals.k6.js';

export { handleSummary } from './arrivals.k6.js';

const { KIND, TARGET, KEY, RATE, BATCH, CONTACTS, RUN, POINTS } = __ENV;
const statuses = new Counter('statuses');
const rate = Number(RATE);

export const options = {
  ...FIGURES,
  scenarios: {
    load: arrivals(rate, {
      preAllocatedVUs: Math.min(2000, Math.max(50, Math.ceil(rate / 4))),
      maxVUs: Math.min(4000, Math.max(200, rate)),
    }),
  },
};

const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' };

function event(n) {
  return {
    event: n % Number(POINTS) === 0 ? 'purchase_completed' : 'page_viewed',
    external_id: `load-${(n * 7919) % Number(CONTACTS)}`,
    idempotency_key: `${RUN}-${n}`,
    occurred_at: new Date().toISOString(),
    properties: { amount: 12990, currency: 'CLP', invoice_id: `F-${n}`, path: '/checkout/thanks' },
  };
}

export default function () {
  const n = exec.scenario.iterationInTest;
  let response;
  if (KIND === 'track')
    response = http.post(`${TARGET}/v1/core/track`, JSON.stringify(event(n)), { headers });
  else {
    const size = Number(BATCH);
    const events = [];
    for (let i = 0; i < size; i += 1) events.push(event(n * size + i));
    response = http.post(`${TARGET}/v1/core/batch`, JSON.stringify({ events }), { headers });
  }
  statuses.add(1, { answer: String(response.status) });
  check(response, { accepted: (r) => r.status >= 200 && r.status < 300 });
}
