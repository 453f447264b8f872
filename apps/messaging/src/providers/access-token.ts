import { createPrivateKey } from 'node:crypto';
import { retryAfterMs } from '@customer-platform/outbound';
import { SignJWT } from 'jose';
import { answerOf, textOf } from './answers.js';
import type { ServiceAccount } from './service-account.js';
import { HEADER_TEXT } from './setting-fields.js';
import type { IssuedToken } from './token-source.js';
import { answerHeader, type HandOff, type SpeakerTools } from './transport-config.js';

const ASSERTION_SECONDS = 3_600;

/** Asks an authorization server for an access token by a grant (RFC 6749 §4). */
export async function askToken(
  tokenUrl: string,
  grant: Readonly<Record<string, string>>,
  tools: SpeakerTools,
): Promise<IssuedToken | HandOff> {
  const result = await tools.post({
    url: new URL(tokenUrl),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: Buffer.from(new URLSearchParams(grant).toString()),
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

/** The grant of a service account of Google: an assertion that its key signs (RFC 7523), for itself or for a `subject`. */
export async function assertionGrant(
  account: ServiceAccount,
  { tokenUrl, scope, subject, now }: { tokenUrl: string; scope: string; subject?: string; now: Date },
): Promise<Record<string, string>> {
  const seconds = Math.floor(now.getTime() / 1_000);
  const unsigned = new SignJWT({ scope })
    .setProtectedHeader({
      alg: 'RS256',
      typ: 'JWT',
      ...(account.private_key_id === undefined ? {} : { kid: account.private_key_id }),
    })
    .setIssuer(account.client_email)
    .setAudience(tokenUrl)
    .setIssuedAt(seconds)
    .setExpirationTime(seconds + ASSERTION_SECONDS);
  if (subject !== undefined) unsigned.setSubject(subject);
  const assertion = await unsigned.sign(createPrivateKey(account.private_key));
  return { grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion };
}
