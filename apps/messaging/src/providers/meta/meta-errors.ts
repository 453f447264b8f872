import { answerOf, objectOf } from '../answers.js';
import type { HandOff } from '../transport-config.js';

/** The token, its permissions, the number, the account or its payment is refused (Meta's error codes 0–299, 131xxx, 133xxx). */
const ACCOUNT: ReadonlySet<number> = new Set([
  0, 3, 10, 33, 190, 368, 131005, 131031, 131042, 131045, 133000, 133005, 133006, 133010,
]);
/** Of the application, the account or the number: nobody's message is taken for a while. */
const TOO_MANY: ReadonlySet<number> = new Set([4, 80007, 130429, 131048, 131057]);
/** Its own failure, or too many to this one recipient. */
const LATER: ReadonlySet<number> = new Set([1, 2, 131000, 131016, 131056, 133004]);

/** What an answer that is no 2xx means; undefined where the status says it. */
export function errorOf(status: number, body: string): HandOff | undefined {
  const { code } = objectOf(answerOf(body)['error']);
  if (typeof code !== 'number') return undefined;
  if (ACCOUNT.has(code) || (code >= 200 && code <= 299))
    return { outcome: 'misconfigured', stage: code === 190 ? 'access_token' : 'account', code: status };
  if (TOO_MANY.has(code)) return { outcome: 'deferred', throttled: true, code: status };
  if (LATER.has(code)) return { outcome: 'deferred', code: status };
  // What is left is of this message: its template, its text, its recipient, of whom no code says that nobody is there.
  return status < 500 ? { outcome: 'bounced', code: status } : undefined;
}
