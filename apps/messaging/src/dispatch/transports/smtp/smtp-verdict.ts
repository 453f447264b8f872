import { deliveryFault } from '../../../providers/delivery-fault.js';
import type { HandOff } from '../../../providers/transport-config.js';
import type { SmtpReply } from './smtp-reply.js';

/** What a reply answers to: the sender, the recipient, the wish to send, or the content itself. */
export type SmtpPhase = 'MAIL' | 'RCPT' | 'DATA' | 'content';

/** Authentication is required, too weak or failed (RFC 4954, 6). */
const ACCOUNT_CODES: ReadonlySet<number> = new Set([530, 534, 535, 538]);
/** Credentials, mechanism, encryption, a changed password, a disabled account, a missing trust (RFC 5248, X.7.8–14). */
const ACCOUNT = /^5\.7\.(8|9|1[0-4])$/;

/**
 * What a reply says of a message. A refusal for good ends it as bounced; only one that blames the recipient's own
 * address suppresses that: not one of the sender (MAIL, 5.1.7, 5.1.8), of a policy (5.7.x) or of the content. One that
 * refuses the account is the same for all messages and waits until it is mended.
 */
export function verdictOf(reply: SmtpReply, phase: SmtpPhase): HandOff {
  const { code, enhanced = '' } = reply;
  const common = { code, ...(enhanced ? { enhanced } : {}) };
  if (code < 400) return { outcome: 'sent', ...common };
  if (code < 500) return { outcome: 'deferred', ...common };
  if (phase !== 'content' && (ACCOUNT_CODES.has(code) || ACCOUNT.test(enhanced)))
    return { outcome: 'misconfigured', stage: phase, ...common };
  return {
    outcome: 'bounced',
    ...common,
    ...(blamesRecipient(reply, phase) ? { recipientGone: true } : {}),
  };
}

/** Before it is named (MAIL) nothing can be the recipient's fault. */
function blamesRecipient({ code, lines, enhanced }: SmtpReply, phase: SmtpPhase): boolean {
  return (
    phase !== 'MAIL' &&
    deliveryFault({ status: enhanced, text: `${code} ${lines.join(' ')}` }) === 'recipient'
  );
}
