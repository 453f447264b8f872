import type { HandOff, OutgoingMessage } from '../../../providers/transport-config.js';
import type { Lease } from '../transport.js';
import type { SmtpConnection } from './smtp-connection.js';
import type { SmtpReply } from './smtp-reply.js';
import { verdictOf, type SmtpPhase } from './smtp-verdict.js';

/** How a delivery ended, and whether the connection can carry another. */
interface SmtpDelivery {
  readonly handOff: HandOff;
  readonly reusable: boolean;
  /** Broke, or was closed by 421, before the server had said anything about this message. */
  readonly untouched: boolean;
}

/**
 * One mail transaction: envelope → content → verdict. The envelope holds the checked address only. Never throws: what
 * cannot be told apart is said to be unknown.
 */
export async function deliver(
  connection: SmtpConnection,
  message: OutgoingMessage,
  lease: Lease,
): Promise<SmtpDelivery> {
  const progress = { answered: false, contentBegun: false };
  const guard = connection.destroyAtEndOf(lease);
  try {
    const refusal = await envelope(connection, message, lease, progress);
    if (refusal) return finish(connection, verdictOf(refusal.reply, refusal.phase), refusal.first);
    progress.contentBegun = true;
    return finish(connection, verdictOf(await connection.content(message.content, lease), 'content'));
  } catch {
    connection.destroy();
    const outcome = progress.contentBegun ? 'unknown' : 'deferred';
    return { handOff: { outcome }, reusable: false, untouched: !progress.answered && !lease.over };
  } finally {
    clearTimeout(guard);
  }
}

/** The reply that refused an envelope, and whether it was the first of all. */
interface Refusal {
  readonly reply: SmtpReply;
  readonly phase: SmtpPhase;
  readonly first: boolean;
}

/** @returns the reply that refused the envelope, or undefined when the server waits for the content */
async function envelope(
  connection: SmtpConnection,
  message: OutgoingMessage,
  lease: Lease,
  progress: { answered: boolean },
): Promise<Refusal | undefined> {
  const reset = connection.transactionOpen ? ['RSET'] : [];
  const lines = [...reset, `MAIL FROM:<${message.from}>`, `RCPT TO:<${message.to}>`, 'DATA'];
  if (lines.some((line) => /[^\x20-\x7e]/.test(line)))
    throw new TypeError('an envelope in plain ASCII was expected');
  connection.transactionOpen = true;
  if (!connection.pipelines) {
    for (const [place, line] of lines.entries()) {
      const [reply] = await connection.commands([line], lease);
      progress.answered = true;
      if (reply && reply.code >= 400) return { reply, phase: phaseOf(line), first: place === 0 };
    }
    return undefined;
  }
  const replies = await connection.commands(lines, lease);
  progress.answered = true;
  const place = replies.findIndex((reply) => reply.code >= 400);
  const reply = replies[place];
  // A server that asks for content though it refused the envelope gets none (RFC 2920 §3.1).
  if (reply && replies.at(-1)?.code === 354) connection.destroy();
  return reply && { reply, phase: phaseOf(lines[place] ?? ''), first: place === 0 };
}

function phaseOf(line: string): SmtpPhase {
  const word = line.split(' ')[0];
  return word === 'RCPT' || word === 'DATA' ? word : 'MAIL';
}

function finish(connection: SmtpConnection, handOff: HandOff, first = false): SmtpDelivery {
  connection.transactionOpen = handOff.outcome !== 'sent';
  // 421: the server is closing. Who is not known there any more, by a token that is over, signs in anew.
  const reusable = connection.alive && handOff.code !== 421 && handOff.outcome !== 'misconfigured';
  return { handOff, reusable, untouched: first && handOff.code === 421 };
}
