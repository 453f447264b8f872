// Runs inside k6: a constant arrival rate of single events; what was accepted and what was refused is timed apart.
import exec from 'k6/execution';
import http from 'k6/http';
import { Counter, Trend } from 'k6/metrics';
import { arrivals, FIGURES } from '../arrivals.k6.js';

export { handleSummary } from '../arrivals.k6.js';

const { TARGET, KEY, RATE, RUN } = __ENV;
const rate = Number(RATE);
const accepted = new Trend('accepted');
const refused = new Trend('refused');
const hasty = new Counter('without_retry_after');
const others = new Counter('others');

export const options = {
  ...FIGURES,
  // Its body names the code, its head when to come back.
  discardResponseBodies: false,
  summaryTrendStats: ['count', 'med', 'p(95)', 'p(99)', 'max'],
  scenarios: {
    load: arrivals(rate, {
      preAllocatedVUs: Math.min(2000, Math.max(100, Math.ceil(rate / 4))),
      maxVUs: Math.min(4000, Math.max(200, rate)),
    }),
  },
};

const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' };

export default function () {
  const n = exec.scenario.iterationInTest;
  const event = {
    event: n % 10 === 0 ? 'purchase_completed' : 'page_viewed',
    external_id: `load-${(n * 7919) % 10007}`,
    idempotency_key: `${RUN}-${n}`,
    occurred_at: new Date().toISOString(),
    properties: { amount: 12990, currency: 'CLP', invoice_id: `F-${n}`, path: '/checkout/thanks' },
  };
  const response = http.post(`${TARGET}/v1/core/track`, JSON.stringify(event), { headers });
  const { duration } = response.timings;
  if (response.status === 202) accepted.add(duration);
  else if (response.status === 503 && String(response.body).includes('"code":"overloaded"')) {
    refused.add(duration);
    if (response.headers['Retry-After'] === undefined) hasty.add(1);
  } else others.add(1, { answer: String(response.status) });
}
