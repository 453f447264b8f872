// Runs inside k6: a constant arrival rate of single events, each of the next organization.
import { check } from 'k6';
import exec from 'k6/execution';
import http from 'k6/http';

const { TARGET, KEYS, RATE, DURATION, RUN } = __ENV;
const keys = JSON.parse(open(KEYS));
const rate = Number(RATE);

export const options = {
  discardResponseBodies: true,
  summaryTrendStats: ['med', 'p(95)', 'p(99)', 'max'],
  systemTags: ['status'],
  scenarios: {
    load: {
      executor: 'constant-arrival-rate',
      rate,
      timeUnit: '1s',
      duration: `${DURATION}s`,
      preAllocatedVUs: Math.max(50, Math.ceil(rate / 4)),
      maxVUs: Math.max(200, rate),
      gracefulStop: '10s',
    },
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

export function handleSummary(data) {
  return { [__ENV.SUMMARY]: JSON.stringify(data.metrics) };
}
