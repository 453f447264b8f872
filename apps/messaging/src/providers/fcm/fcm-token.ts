import { createPrivateKey } from 'node:crypto';
import { retryAfterMs } from '@customer-platform/outbound';
import { SignJWT } from 'jose';
import { answerOf, textOf } from '../answers.js';
import { HEADER_TEXT } from '../setting-fields.js';
import type { IssuedToken } from '../token-source.js';
import { answerHeader, type HandOff, type SpeakerTools } from '../way-out.js';
import type { ServiceAccount } from './service-account.js';

const SCOPE = 'https://www.googleapis.com/auth/firebase.messaging';
const GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const ASSERTION_SECONDS = 3_600;

/** Asks Google for an access token by an assertion that the account's key signs (RFC 7523). */
export async function askToken(
  account: ServiceAccount,
  tokenUrl: string,
  tools: SpeakerTools,
): Promise<IssuedToken | HandOff> {
  const seconds = Math.floor(tools.now().getTime() / 1_000);
  const assertion = await new SignJWT({ scope: SCOPE })
    .setProtectedHeader({
      alg: 'RS256',
      typ: 'JWT',
      ...(account.private_key_id === undefined ? {} : { kid: account.private_key_id }),
    })
    .setIssuer(account.client_email)
    .setAudience(tokenUrl)
    .setIssuedAt(seconds)
    .setExpirationTime(seconds + ASSERTION_SECONDS)
    .sign(createPrivateKey(account.private_key));
  const result = await tools.post({
    url: new URL(tokenUrl),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: Buffer.from(new URLSearchParams({ grant_type: GRANT, assertion }).toString()),
  });
  // No message has left: whatever became of the question, it can be asked again.
  if (result.kind === 'invalid') return { outcome: 'misconfigured', stage: 'token' };
  if (result.kind !== 'answered') return { outcome: 'deferred', stage: 'token', throttled: true };
  const { status, body } = result;
  const { access_token: token, expires_in: lasts } = answerOf(body);
  if (status === 200 && typeof token === 'string' && token !== '') {
    // One with a line break cannot be sent along, and whoever gives it is not who it should be.
    if (!HEADER_TEXT.test(token)) return { outcome: 'misconfigured', stage: 'token', code: status };
    return { token, forMs: Math.max(0, Number(textOf(lasts)) || 0) * 1_000 };
  }
  const wish = retryAfterMs(answerHeader(result, 'retry-after'), tools.now());
  const wished = wish > 0 ? { retryAfterMs: wish } : {};
  return status >= 500 || status === 429 || status === 200
    ? { outcome: 'deferred', stage: 'token', throttled: true, code: status, ...wished }
    : { outcome: 'misconfigured', stage: 'token', code: status };
}
