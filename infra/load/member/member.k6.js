// Runs inside k6: what a member's page calls, mixed, at a steady arrival rate; latencies by call.
import { check } from 'k6';
import exec from 'k6/execution';
import http from 'k6/http';
import { arrivals, figuresOf } from '../arrivals.k6.js';

export { handleSummary } from '../arrivals.k6.js';

const { TARGET, KEY, RATE, SAMPLE } = __ENV;
const { externalIds, tokens } = JSON.parse(open(SAMPLE));
const NAMES = ['token exchange', 'me', 'my consents', 'change my consents'];

export const options = { ...figuresOf(NAMES), scenarios: { mixed: arrivals(RATE) } };

const call = (name, method, path, credential, body) => {
  const headers = { authorization: `Bearer ${credential}`, 'content-type': 'application/json' };
  const text = body === undefined ? null : JSON.stringify(body);
  const response = http.request(method, TARGET + path, text, { headers, tags: { call: name } });
  if (!check(response, { [name]: ({ status }) => status === 200 }))
    console.error(`${name}: ${response.status} ${response.body}`);
};

export default function () {
  const n = exec.scenario.iterationInTest;
  const token = tokens[n % tokens.length];
  // Of ten calls one signs in, five read who one is, three what one agreed to, one changes that.
  const turn = n % 10;
  if (turn === 0) {
    const subject = externalIds[Math.floor(n / 10) % externalIds.length];
    return call(NAMES[0], 'POST', '/v1/core/members/token-exchange', KEY, {
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      subject_token: subject,
      subject_token_type: 'urn:customer-platform:token-type:external-id',
    });
  }
  if (turn < 6) return call(NAMES[1], 'GET', '/v1/core/members/me', token);
  if (turn < 9) return call(NAMES[2], 'GET', '/v1/core/members/me/consents', token);
  const status = Math.floor(n / 10) % 2 === 0 ? 'granted' : 'withdrawn';
  const consents = [{ purpose: 'marketing', channel: 'email', status, notice_version: '2026-03' }];
  call(NAMES[3], 'PATCH', '/v1/core/members/me/consents', token, { consents });
}
