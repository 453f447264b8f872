// Runs inside k6: a constant arrival rate of single events, each of the next organization.
import { check } from 'k6';
import exec from 'k6/execution';
import http from 'k6/http';
import { arrivals, FIGURES } from '../arrivals.k6.js';

export { handleSummary } from '../arrivals.k6.js';

const { TARGET, KEYS, RATE, RUN } = __ENV;
const keys = JSON.parse(open(KEYS));
const rate = Number(RATE);

export const options = {
  ...FIGURES,
  scenarios: {
    load: arrivals(rate, {
      preAllocatedVUs: Math.max(50, Math.ceil(rate / 4)),
      maxVUs: Math.max(200, rate),
    }),
  },
};

export default function () {
  const n = exec.scenario.iterationInTest;
  const event = {
    event: n % 10 === 0 ? 'purchase_completed' : 'page_viewed',
    external_id: `load-${(n * 7919) % 10007}`,
    idempotency_key: `${RUN}-${n}`,
    occurred_at: new Date().toISOString(),
    properties: { amount: 12990, currency: 'CLP', invoice_id: `F-${n}`, path: '/checkout/thanks' },
  };
  const headers = { authorization: `Bearer ${keys[n % keys.length]}`, 'content-type': 'application/json' };
  const response = http.post(`${TARGET}/v1/core/track`, JSON.stringify(event), { headers });
  check(response, { accepted: (r) => r.status >= 200 && r.status < 300 });
}
